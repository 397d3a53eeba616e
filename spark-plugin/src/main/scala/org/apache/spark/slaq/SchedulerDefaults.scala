package org.apache.spark.slaq

import org.apache.spark.SparkConf

/** Settings of Spark's scheduler that suit shares, for those that the user left open. */
private[slaq] object SchedulerDefaults {
  private val Mode = "spark.scheduler.mode"
  private val Wait = "spark.locality.wait"

  def set(conf: SparkConf): Unit = {
    conf.setIfMissing(Mode, "FAIR")
    // A task that waits 3 s for a place near its data leaves cores of the share idle for many iterations.
    if (!Seq("", ".process", ".node", ".rack").exists(level => conf.contains(Wait + level))) conf.set(Wait, "50ms")
  }
}
