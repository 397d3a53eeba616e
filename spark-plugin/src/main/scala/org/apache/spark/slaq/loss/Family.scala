// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

/**
 * What to do when the probes of some algorithms are passed. The values of each probe are those of its row in
 * [[Hook.all]].
 */
private[loss] trait Family {
  def probes: Map[String, Array[AnyRef] => Unit]
}

private[loss] object Family {
  def all(runs: Runs): Seq[Family] = Seq(new Fits(runs), new Optimizers(runs), new Clusterings(runs), new Topics(runs),
    new Boostings(runs), new Reweightings(runs), new Progresses(runs))
}
