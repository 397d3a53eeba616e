package org.apache.spark.slaq.arbiter

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.slaq.engine.{Engine, NativeLibrary}

/** The arbiter in this JVM. Safe for use by many threads. */
private[slaq] final class LocalArbiter private (native: Native, handle: Long) extends Arbiter {

  override def ask(message: Array[Byte]): Array[Byte] = answer(message)._2

  /** The answer, and the application that reported if the message was a report. */
  def answer(message: Array[Byte]): (Option[String], Array[Byte]) = {
    val lines = native.receive(handle, message, Engine.now())
    val end = lines.indexOf('\n')
    (Some(lines.substring(0, end)).filter(_.nonEmpty), lines.substring(end + 1).getBytes(UTF_8))
  }

  /** The application's connection broke: unless it comes back in a moment, it is forgotten. */
  def disconnected(app: String): Unit = native.disconnected(handle, app, Engine.now())

  /** Plans if there is reason to; to be called a few times a second. Returns what happened, in words. */
  def tick(): Seq[String] = native.tick(handle, Engine.now()).split('\n').toSeq.filter(_.nonEmpty)

  /** The cluster has this many cores now. */
  def setCores(cores: Int): Unit = native.setCores(handle, cores)

  /**
   * Replaces the tenants by those in this JSON text.
   *
   * @throws java.lang.IllegalArgumentException naming key, value and what is allowed; the tenants stay as they were
   */
  def setTenants(json: String): Unit = native.setTenants(handle, json)

  override def close(): Unit = native.close(handle)
}

private[slaq] object LocalArbiter {

  /**
   * Loads the library and opens an arbiter.
   *
   * @param settings `cores` and what else differs from the defaults
   * @throws java.lang.IllegalArgumentException for a wrong setting, naming key, value and what is allowed
   */
  def open(settings: Map[String, String]): LocalArbiter = {
    NativeLibrary.load().fold(reason => throw reason, identity)
    val fields = new java.util.LinkedHashMap[String, String]
    settings.foreach { case (key, value) => fields.put(key, value) }
    val native = new Native
    new LocalArbiter(native, native.open(new ObjectMapper().writeValueAsString(fields), Engine.now()))
  }
}
