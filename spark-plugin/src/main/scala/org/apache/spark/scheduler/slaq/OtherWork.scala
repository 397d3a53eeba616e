package org.apache.spark.scheduler.slaq

/**
 * Work beside the runs, as the fair scheduler sees it.
 *
 * @param weight summed weight of its pools that have tasks
 * @param minShare summed minimum share of these, in cores
 */
private[spark] final case class OtherWork(weight: Double, minShare: Int) {

  /**
   * The weight that is worth what the fair scheduler would give: by weight, but at least the minimum share.
   *
   * @param runs number of runs, which weigh 1 each
   */
  def claim(cores: Int, runs: Int): Double = {
    val guaranteed = math.min(minShare, cores - 1)
    if (guaranteed <= 0) weight else math.max(weight, runs.toDouble * guaranteed / (cores - guaranteed))
  }
}

private[spark] object OtherWork {
  val None: OtherWork = OtherWork(0, 0)
}
