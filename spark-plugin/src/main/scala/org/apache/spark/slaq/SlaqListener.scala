package org.apache.spark.slaq

import scala.util.control.NonFatal

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerApplicationStart}

/**
 * For `spark.extraListeners`, where `spark.plugins` can't be used (a local Spark Connect session overwrites it). Spark
 * makes listeners after its scheduler, so runs are seen and recorded but not scheduled.
 */
private[slaq] class SlaqListener(conf: SparkConf) extends SparkListener with Logging {
  import SlaqListener._

  @volatile private var session: Option[Session] = None
  @volatile private var ended = false

  override def onApplicationStart(event: SparkListenerApplicationStart): Unit = {
    // The context tells of its start before it is done, and this thread must not wait for it.
    val thread = new Thread(() => attach(), "slaq-attach")
    thread.setDaemon(true)
    thread.start()
  }

  override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = synchronized {
    ended = true
    session.foreach(_.close())
  }

  private def attach(): Unit =
    try {
      val deadline = System.nanoTime() + AttachNanos
      while (SparkContext.getActive.isEmpty && !ended && System.nanoTime() < deadline) Thread.sleep(PollMillis)
      SparkContext.getActive.foreach(start)
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) => logWarning("SLAQ does not record this application", e)
    }

  private def start(sc: SparkContext): Unit = synchronized {
    val settings = SlaqConf.read(sc.conf)
    if (!ended && settings.enabled && !sc.taskScheduler.isInstanceOf[org.apache.spark.scheduler.slaq.SlaqScheduling]) {
      logInfo("SLAQ is only a listener here: it records runs, and Spark schedules as usual. Name SlaqPlugin in spark.plugins to change that")
      session = Some(Session.start(sc, settings, None))
    }
  }
}

private[slaq] object SlaqListener {
  private val AttachNanos = 60L * 1000 * 1000 * 1000
  private val PollMillis = 10L
}
