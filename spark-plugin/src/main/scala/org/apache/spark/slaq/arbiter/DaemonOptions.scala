package org.apache.spark.slaq.arbiter

import java.net.InetAddress

import scala.util.Try

/**
 * What the daemon was started with.
 *
 * @param cores None to ask the Master
 * @param settings those of the native arbiter, by key; it checks them itself
 */
private[arbiter] final case class DaemonOptions(
    host: String = "127.0.0.1",
    port: Int = DaemonOptions.Port,
    cores: Option[Int] = None,
    masterUi: Option[String] = None,
    tenants: Option[String] = None,
    secret: Option[String] = None,
    settings: Map[String, String] = Map.empty) {

  /** @throws java.lang.IllegalArgumentException if they do not fit together */
  def check(): DaemonOptions = {
    if (cores.isEmpty && masterUi.isEmpty) DaemonOptions.wrong("--cores", "auto", "a number, or auto with --master-ui")
    if (secret.isEmpty && !Try(InetAddress.getByName(host).isLoopbackAddress).getOrElse(false)) {
      DaemonOptions.wrong("--host", host, "a loopback address, or any other with --secret-file")
    }
    this
  }
}

private[arbiter] object DaemonOptions {
  val Port = 7079

  private val Keys = Seq("lease", "period", "settle", "move-cost", "dwell", "probation", "expect", "turn", "grace", "fairness")

  /** @throws java.lang.IllegalArgumentException naming option, value and what is allowed */
  def parse(args: List[String], options: DaemonOptions = DaemonOptions()): DaemonOptions = args match {
    case Nil => options.check()
    case "--host" :: host :: rest => parse(rest, options.copy(host = host))
    case "--port" :: port :: rest => parse(rest, options.copy(port = number("--port", port, 0, 65535)))
    case "--cores" :: "auto" :: rest => parse(rest, options.copy(cores = None))
    case "--cores" :: cores :: rest => parse(rest, options.copy(cores = Some(number("--cores", cores, 1, 10000000))))
    case "--master-ui" :: url :: rest => parse(rest, options.copy(masterUi = Some(url)))
    case "--tenants" :: file :: rest => parse(rest, options.copy(tenants = Some(file)))
    case "--secret-file" :: file :: rest => parse(rest, options.copy(secret = Some(Secret.read("--secret-file", file))))
    case key :: value :: rest if Keys.contains(key.stripPrefix("--")) =>
      parse(rest, options.copy(settings = options.settings + (key.stripPrefix("--").replace('-', '.') -> value)))
    case key :: _ =>
      val known = Seq("host", "port", "cores", "master-ui", "tenants", "secret-file") ++ Keys
      throw new IllegalArgumentException(s"$key is unknown or has no value; allowed: ${known.map("--" + _).mkString(", ")}")
  }

  private def number(option: String, value: String, low: Int, high: Int): Int =
    Try(value.toInt).toOption.filter(n => n >= low && n <= high).getOrElse(wrong(option, value, s"a whole number from $low to $high"))

  private def wrong(option: String, value: String, allowed: String): Nothing =
    throw new IllegalArgumentException(s"$option $value is wrong; allowed: $allowed")
}
