package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.concurrent.{Executors, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

/**
 * The arbiter as a process, run by `scripts/arbiter`. Holds no state worth keeping: after a restart the drivers tell it
 * all that it needs to know within one lease.
 */
object ArbiterDaemon extends Logging {
  private val TickMillis = 250L
  private val LookSeconds = 1.0
  private val MasterSeconds = 10.0

  def main(args: Array[String]): Unit =
    try serve(DaemonOptions.parse(args.toList))
    catch {
      case e: IllegalArgumentException => fail(2, e.getMessage)
      case e @ (NonFatal(_) | _: LinkageError) => fail(1, Option(e.getCause).filter(_ => e.getMessage == null).getOrElse(e).toString)
    }

  private def serve(options: DaemonOptions): Unit = {
    val master = options.masterUi.filter(_ => options.cores.isEmpty).map(new MasterCores(_))
    val cores = options.cores.getOrElse(master.get.ask())
    val arbiter = LocalArbiter.open(options.settings + ("cores" -> cores.toString))
    val tenants = options.tenants.map(new TenantsFile(_, arbiter))
    tenants.foreach(_.load())
    val env = Rpc.server(options.host, options.port, options.secret)
    env.setupEndpoint(Rpc.Endpoint, new ArbiterEndpoint(env, arbiter))
    sys.addShutdownHook(env.shutdown())
    // scripts/arbiter waits for this line.
    println(s"arbiter at ${env.address.hostPort}, $cores cores, ${if (options.secret.isDefined) "encrypted" else "open to this machine's users"}")
    val complaints = new RateLimit(60.0)
    def guarded(body: => Unit): Unit =
      try body
      catch { case NonFatal(e) => complaints(say => logWarning(s"the arbiter goes on with what it knows: $e$say")) }
    val timer = Executors.newSingleThreadScheduledExecutor()
    def every(millis: Long)(body: => Unit): Unit =
      timer.scheduleWithFixedDelay(() => guarded(body), millis, millis, TimeUnit.MILLISECONDS)
    every(TickMillis)(arbiter.tick().foreach(line => logInfo(line)))
    tenants.foreach(file => every((LookSeconds * 1000).toLong)(file.reload()))
    master.foreach(m => every((MasterSeconds * 1000).toLong)(arbiter.setCores(m.ask())))
    env.awaitTermination()
    timer.shutdownNow()
  }

  private def fail(code: Int, why: String): Unit = {
    System.err.println(s"error: $why")
    // Spark's threads of a half-made environment would keep the process.
    Runtime.getRuntime.halt(code)
  }
}

/** The file of tenants: read at the start, and again whenever it changes. */
private[arbiter] final class TenantsFile(file: String, arbiter: LocalArbiter) extends Logging {
  private val path = Paths.get(file)
  private var seen = ""

  /** @throws java.lang.IllegalArgumentException if it cannot be read or is wrong */
  def load(): Unit = {
    seen = stamp()
    val text =
      try new String(Files.readAllBytes(path), UTF_8)
      catch { case e: IOException => throw new IllegalArgumentException(s"--tenants $file cannot be read: $e") }
    arbiter.setTenants(text)
  }

  /** Says so once and keeps the tenants as they are if it is wrong now. */
  def reload(): Unit = if (stamp() != seen) {
    try {
      load()
      logInfo(s"tenants are read anew from $file")
    } catch { case e: IllegalArgumentException => logWarning(s"tenants stay as they were: ${e.getMessage}") }
  }

  private def stamp(): String =
    try s"${Files.getLastModifiedTime(path)} ${Files.size(path)}"
    catch { case _: IOException => "" }
}
