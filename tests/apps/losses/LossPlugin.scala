// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import java.util.{Collections, Map => JMap}

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.slaq.loss.{LossTap, Run, RunEvents}

/** Starts the loss tap alone, without the scheduling. */
class LossPlugin extends SparkPlugin {
  override def executorPlugin(): ExecutorPlugin = null

  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    private var tap: LossTap = _

    override def init(sc: SparkContext, context: PluginContext): JMap[String, String] = {
      tap = LossTap.start(sc, sc.getConf.get("spark.slaq.losses", "auto"), Nobody)
      Collections.emptyMap[String, String]
    }

    override def shutdown(): Unit = tap.close()
  }

  private object Nobody extends RunEvents {
    override def started(run: Run): Unit = ()
    override def loss(run: Run, iteration: Int, value: Double): Unit = ()
    override def progress(run: Run, done: Int, total: Int): Unit = ()
    override def finished(run: Run, outcome: String): Unit = ()
  }
}
