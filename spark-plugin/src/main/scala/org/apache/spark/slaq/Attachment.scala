package org.apache.spark.slaq

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.slaq.SlaqScheduling

/** A session for an application whose SparkContext exists, or is about to: it sees and records runs, and schedules none. */
private[slaq] class Attachment extends Logging {
  import Attachment._

  @volatile private var session: Option[Session] = None
  @volatile private var ended = false

  /** Looks for the context in a thread of its own, as the context tells listeners of its start before it is done. */
  def start(): Unit = {
    val thread = new Thread(() => attach(), "slaq-attach")
    thread.setDaemon(true)
    thread.start()
  }

  def close(): Unit = synchronized {
    ended = true
    session.foreach(_.close())
  }

  private def attach(): Unit =
    try {
      val deadline = System.nanoTime() + AttachNanos
      while (SparkContext.getActive.isEmpty && !ended && System.nanoTime() < deadline) Thread.sleep(PollMillis)
      SparkContext.getActive.foreach(record)
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) => logWarning("SLAQ does not record this application", e)
    }

  private def record(sc: SparkContext): Unit = synchronized {
    val settings = SlaqConf.read(sc.conf)
    if (!ended && settings.enabled && !sc.taskScheduler.isInstanceOf[SlaqScheduling]) {
      logInfo("SLAQ is only a listener here: it records runs, and Spark schedules as usual. Name SlaqPlugin in spark.plugins to change that")
      session = Some(Session.start(sc, settings, None))
    }
  }
}

private[slaq] object Attachment {
  private val AttachNanos = 60L * 1000 * 1000 * 1000
  private val PollMillis = 10L
}
