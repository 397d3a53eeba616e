package org.apache.spark.slaq

import java.util.{Collections, Map => JMap}

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.slaq.SlaqClusterManager
import org.apache.spark.slaq.arbiter.{ArbiterConf, ArbiterLink}
import org.apache.spark.slaq.engine.Engine
import org.apache.spark.slaq.executors.ExecutorDefaults
import org.apache.spark.slaq.loss.LossTap

/**
 * Puts the scheduler into an application while its SparkContext is being made.
 *
 * Spark calls `init` just before it makes the task scheduler for `spark.master`. The master is rewritten there, so that
 * Spark asks [[org.apache.spark.scheduler.slaq.SlaqClusterManager]], which sets it right at once; and settings of the
 * scheduler that the user left open get values that suit shares. `registerMetrics` is called last, when everything
 * exists and no user code has run. Only a wrong `spark.slaq.*` value stops the application; whatever else goes wrong,
 * Spark schedules as usual.
 */
private[slaq] class SlaqDriverPlugin extends DriverPlugin with Logging {
  private var context: Option[SparkContext] = None
  private var settings: Option[SlaqConf] = None
  private var engine: Option[Engine] = None
  private var session: Option[Session] = None
  private var arbiter: Option[ArbiterConf] = None
  private var link: Option[ArbiterLink] = None

  override def init(sc: SparkContext, plugin: PluginContext): JMap[String, String] = {
    openly("does not start") {
      SlaqPlugin.leaveExecutors(sc.conf)
      val conf = SlaqConf.read(sc.conf)
      val named = ArbiterConf.take(sc.conf)
      if (conf.enabled && (!conf.plans || opened(conf))) {
        if (conf.plans) SchedulerDefaults.set(sc.conf)
        LossTap.prepare(conf.losses)
        arbiter = named.filter(_ => conf.plans)
        if (arbiter.isDefined) ExecutorDefaults.set(sc.conf)
        context = Some(sc)
        settings = Some(conf)
        sc.conf.set("spark.master", SlaqClusterManager.Prefix + sc.conf.get("spark.master"))
      }
    }
    Collections.emptyMap()
  }

  override def registerMetrics(appId: String, plugin: PluginContext): Unit = openly("does not start") {
    for (sc <- context; conf <- settings) session = Some(Session.start(sc, conf, engine))
    for (sc <- context; named <- arbiter; open <- engine) link = ArbiterLink.start(sc, named, open)
  }

  override def shutdown(): Unit = openly("does not stop cleanly") {
    link.foreach(_.close())
    session.foreach(_.close())
    engine.foreach(_.close())
  }

  private def opened(conf: SlaqConf): Boolean = Engine.open(conf.engine) match {
    case Right(open) =>
      engine = Some(open)
      true
    case Left(wrong: IllegalArgumentException) => throw new IllegalArgumentException(Setting.Prefix + wrong.getMessage, wrong)
    case Left(e) =>
      logWarning(s"SLAQ has no engine: Spark schedules as usual. ${e.getMessage}")
      false
  }

  private def openly(what: String)(body: => Unit): Unit =
    try body
    catch {
      case wrong: IllegalArgumentException if Option(wrong.getMessage).exists(_.startsWith(Setting.Prefix)) => throw wrong
      case e @ (NonFatal(_) | _: LinkageError) => logWarning(s"SLAQ $what: Spark schedules as usual", e)
    }
}
