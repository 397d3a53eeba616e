package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.net.{HttpURLConnection, URL}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * Asks a standalone Master how many cores its living workers have.
 *
 * @param url of the Master's web page, such as http://host:8080
 */
private[arbiter] final class MasterCores(url: String) {
  private val mapper = new ObjectMapper

  /** @throws java.io.IOException if the Master does not tell */
  def ask(): Int = {
    val connection = new URL(url.stripSuffix("/") + "/json/").openConnection().asInstanceOf[HttpURLConnection]
    connection.setConnectTimeout(3000)
    connection.setReadTimeout(3000)
    try {
      val workers = mapper.readTree(connection.getInputStream).path("workers")
      if (!workers.isArray) throw new IOException(s"$url/json/ names no workers: is it a standalone Master's web page?")
      workers.elements.asScala.filter(_.path("state").asText == "ALIVE").map(_.path("cores").asInt).sum
    } finally connection.disconnect()
  }
}
