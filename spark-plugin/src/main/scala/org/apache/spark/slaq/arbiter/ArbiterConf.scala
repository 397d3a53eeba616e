package org.apache.spark.slaq.arbiter

import scala.util.Try

import org.apache.spark.SparkConf
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.slaq.Setting

/**
 * How an application takes part in an arbiter's plan.
 *
 * @param timeout seconds of silence after which Spark decides the number of executors again
 * @param interval seconds between reports
 * @param tenant None for the user that runs the application
 * @param moveRate bytes a second at which cached blocks move to new executors; None if they don't
 */
private[slaq] final case class ArbiterConf(
    address: Address,
    secret: Option[String],
    timeout: Double,
    interval: Double,
    tenant: Option[String],
    moveRate: Option[Long])

private[slaq] object ArbiterConf {
  val Where: Setting[Option[Address]] = Setting("arbiter", "", s"${Address.Allowed}, or nothing",
    "The arbiter that plans executors across applications. Without one, everything stays inside the application.")(text =>
    if (text.isEmpty) Some(None) else Address.parse(text).map(Some(_)))

  val InlineSecret: Setting[Option[String]] = Setting("arbiter.secret", "", "a text", "The arbiter's secret.")(text)

  val SecretFile: Setting[Option[String]] = Setting("arbiter.secret.file", "", "a file that others cannot read",
    "File with the arbiter's secret in its first line.")(text)

  val Timeout: Setting[Double] = Setting("arbiter.timeout", "60", "a time from 1s to 1d",
    "How long the last target is kept when the arbiter is silent; then Spark decides.")(within(1, 86400))

  val Interval: Setting[Double] = Setting("arbiter.interval", "2", "a time from 100ms to 1h, less than the arbiter's lease",
    "Time between reports to the arbiter.")(within(0.1, 3600))

  val Tenant: Setting[Option[String]] = Setting("tenant", "", "a name", "Who pays for the application; by default the user that runs it.")(text)

  val Move: Setting[Boolean] = Setting("cache.move", "true", "true or false",
    "Whether cached blocks move to new executors.")(Setting.bool)

  val MoveRate: Setting[Long] = Setting("cache.move.rate", "200m", "a size from 1m, meant per second",
    "How fast cached blocks move to new executors, all together.")(text =>
    Try(JavaUtils.byteStringAsBytes(text)).toOption.filter(_ >= 1024 * 1024))

  val all: Seq[Setting[_]] = Seq(Where, InlineSecret, SecretFile, Timeout, Interval, Tenant, Move, MoveRate)

  /**
   * The settings, if an arbiter is named. The secret is taken out of the configuration, which executors and the event
   * log get to see.
   *
   * @throws java.lang.IllegalArgumentException naming key, value and what is allowed
   */
  def take(conf: SparkConf): Option[ArbiterConf] = {
    val inline = InlineSecret.of(conf)
    conf.remove(InlineSecret.key)
    val file = SecretFile.of(conf)
    val (timeout, interval, tenant) = (Timeout.of(conf), Interval.of(conf), Tenant.of(conf))
    val rate = MoveRate.of(conf)
    val moveRate = if (Move.of(conf)) Some(rate) else None
    Where.of(conf).map { address =>
      val secret = inline.orElse(file.map(Secret.read(SecretFile.key, _)))
      ArbiterConf(address, secret, timeout, interval, tenant, moveRate)
    }
  }

  private def text(value: String): Option[Option[String]] = Some(Some(value).filter(_.nonEmpty))

  private def within(low: Double, high: Double)(text: String): Option[Double] = Setting.seconds(text).filter(s => s >= low && s <= high)
}
