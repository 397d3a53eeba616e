package org.apache.spark.scheduler.slaq

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.TaskSchedulerImpl
import org.apache.spark.scheduler.cluster.{YarnClusterScheduler, YarnScheduler}

/** Spark's scheduler of YARN applications in client mode, with shares. */
private[slaq] class SlaqYarnScheduler(sc: SparkContext) extends YarnScheduler(sc) with SlaqScheduling

/** Spark's scheduler of YARN applications in cluster mode, with shares. */
private[slaq] class SlaqYarnClusterScheduler(sc: SparkContext) extends YarnClusterScheduler(sc) with SlaqScheduling

/** In an object of its own, since not every Spark has these classes: only a match by name leads here. */
private[slaq] object SlaqYarnSchedulers {
  private val Client = "org.apache.spark.scheduler.cluster.YarnScheduler"
  private val Cluster = "org.apache.spark.scheduler.cluster.YarnClusterScheduler"

  /** Ours in place of the scheduler that YARN's cluster manager made, if it is one of the two known. */
  def inPlaceOf(scheduler: TaskSchedulerImpl): Option[TaskSchedulerImpl with SlaqScheduling] = scheduler.getClass.getName match {
    case Client => Some(new SlaqYarnScheduler(scheduler.sc))
    case Cluster => Some(new SlaqYarnClusterScheduler(scheduler.sc))
    case _ => None
  }
}
