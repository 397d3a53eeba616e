package org.apache.spark.slaq

import java.util.concurrent.TimeUnit

import scala.util.Try

import org.apache.spark.SparkConf
import org.apache.spark.network.util.JavaUtils

/**
 * A key of Spark's configuration. Spark's own ConfigEntry is not used: it registers keys for the whole JVM, and refuses
 * a second registration, as happens when a second class loader has this plugin.
 *
 * @param name key without prefix
 * @param default value when the key is not set
 * @param allowed the values that `parse` takes, in words
 * @param doc what the key does
 */
private[spark] final case class Setting[T](name: String, default: String, allowed: String, doc: String)(parse: String => Option[T]) {
  val key: String = Setting.Prefix + name

  /** @throws java.lang.IllegalArgumentException for a wrong value, naming key, value and what is allowed */
  def of(conf: SparkConf): T = of(conf.getOption(key))

  /** The value for a text, or for the default where there is none. */
  def of(text: Option[String]): T = {
    val value = text.getOrElse(default).trim
    parse(value).getOrElse(throw new IllegalArgumentException(s"$key = $value is wrong; allowed: $allowed"))
  }
}

private[spark] object Setting {
  val Prefix = "spark.slaq."

  def bool(text: String): Option[Boolean] = Try(text.toBoolean).toOption

  def number(text: String): Option[Double] = Try(text.toDouble).toOption.filterNot(_.isNaN)

  /** A number of seconds, or a time with its unit as Spark writes it. */
  def seconds(text: String): Option[Double] =
    number(text).orElse(Try(JavaUtils.timeStringAs(text, TimeUnit.MICROSECONDS) * 1e-6).toOption)
}
