package org.apache.spark.slaq

import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}

/** What `spark.plugins` names. All of it runs in the driver; executors need neither this class nor the jar. */
class SlaqPlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new SlaqDriverPlugin

  override def executorPlugin(): ExecutorPlugin = null
}
