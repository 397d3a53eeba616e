package org.apache.spark.slaq

import org.apache.spark.SparkConf
import org.apache.spark.slaq.arbiter.ArbiterConf

/**
 * The settings of an application: what its `spark.slaq.*` keys say.
 *
 * @param enabled false leaves everything to Spark
 * @param losses how losses are found; see [[org.apache.spark.slaq.loss.LossTap]]
 * @param policy who gets cores; [[SlaqConf.NoPolicy]] records and limits nobody
 * @param epoch seconds between plans
 * @param lendDelay seconds for which cores of a share must be unused before they are lent; None never lends
 * @param explainPath file for the record of every plan
 * @param weight importance of the runs whose thread does not say
 * @param engine settings of the engine, by key without prefix
 */
private[spark] final case class SlaqConf(
    enabled: Boolean,
    losses: String,
    policy: String,
    epoch: Double,
    lendDelay: Option[Double],
    explainPath: Option[String],
    weight: Double,
    engine: Map[String, String]) {

  /** Whether cores are planned at all. */
  def plans: Boolean = policy != SlaqConf.NoPolicy
}

private[spark] object SlaqConf {
  import Setting.{bool, number, seconds}

  /** The policy that records what Spark's own scheduling does, for comparison. */
  val NoPolicy = "none"

  val Enabled: Setting[Boolean] = Setting("enabled", "true", "true or false",
    "Schedule the application's training runs by quality.")(bool)

  val Losses: Setting[String] = Setting("losses", "auto", "auto, weave, log or off",
    "How the losses of runs are found: woven into MLlib's classes, read from its log, the better that works, or not.")(
    oneOf("auto", "weave", "log", "off"))

  val Policy: Setting[String] = Setting("policy", "quality", s"$NoPolicy, or a policy of the engine",
    "Who gets cores. 'none' leaves scheduling to Spark and only records.")(Some(_))

  val Epoch: Setting[Double] = Setting("epoch", "1", "a time from 10ms to 1h, in seconds if it has no unit",
    "Time between plans.")(seconds(_).filter(s => s >= 0.01 && s <= 3600))

  val LendDelay: Setting[Double] = Setting("lend.delay", "0", "a time, in seconds if it has no unit; 0 at once, -1 never",
    "How long cores of a run must be unused before others may borrow them.")(seconds(_).filter(s => s >= 0 || s == -1))

  val ExplainPath: Setting[String] = Setting("explain.path", "", "a file",
    "File to which every plan and every loss is appended, as JSON lines.")(Some(_))

  val Weight: Setting[Double] = Setting("weight", "1", "a number above 0",
    "Importance of a run. Also a local property, for the runs of one thread.")(number(_).filter(w => w > 0 && !w.isInfinite))

  private val own: Seq[Setting[_]] = Seq(Enabled, Losses, Policy, Epoch, LendDelay, ExplainPath, Weight) ++ ArbiterConf.all

  /** Keys that other parts of the plugin read themselves; as local properties they may also be set by threads. */
  private val elsewhere = Seq("native.", "run.")

  /**
   * Reads the settings. Keys that are not known here are the engine's, which refuses those that it does not know.
   *
   * @throws java.lang.IllegalArgumentException for a wrong value, naming key, value and what is allowed
   */
  def read(conf: SparkConf): SlaqConf = {
    val epoch = Epoch.of(conf)
    val delay = LendDelay.of(conf)
    val rest = conf.getAllWithPrefix(Setting.Prefix).toMap.filterNot { case (key, _) =>
      own.exists(_.key == Setting.Prefix + key) || elsewhere.exists(key.startsWith)
    }
    SlaqConf(
      Enabled.of(conf), Losses.of(conf), Policy.of(conf), epoch, if (delay < 0) None else Some(delay),
      Some(ExplainPath.of(conf)).filter(_.nonEmpty), Weight.of(conf),
      rest + ("policy" -> Policy.of(conf)) + ("epoch" -> epoch.toString))
  }

  private def oneOf(allowed: String*)(text: String): Option[String] = Some(text.toLowerCase).filter(allowed.contains)
}
