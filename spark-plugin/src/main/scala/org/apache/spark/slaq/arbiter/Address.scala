package org.apache.spark.slaq.arbiter

import scala.util.Try

/** Where an arbiter listens. */
private[slaq] final case class Address(host: String, port: Int) {
  override def toString: String = s"$host:$port"
}

private[slaq] object Address {
  val Allowed = "host:port"

  def parse(text: String): Option[Address] = text.trim.lastIndexOf(':') match {
    case at if at > 0 =>
      val port = Try(text.trim.substring(at + 1).toInt).toOption.filter(p => p > 0 && p < 65536)
      port.map(Address(text.trim.substring(0, at), _))
    case _ => None
  }
}
