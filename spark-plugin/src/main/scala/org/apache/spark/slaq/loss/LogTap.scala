// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import scala.util.matching.Regex

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}

import org.apache.spark.SparkContext

/**
 * Reads losses from what MLlib and breeze log at INFO, for the families of probes that are not woven. Coarser: breeze
 * prints six digits and not the starting point, boosting, LDA and mini-batch gradient descent print nothing in time,
 * and trainings of the RDD-based API are seen only while breeze works for them.
 *
 * Loggers call their appenders on the thread that logs, which is the fit's, so runs are kept as if probes were passed.
 *
 * @param missing the families of probes to stand in for
 */
private[loss] final class LogTap private (runs: Runs, missing: Set[String], context: LoggerContext) extends AutoCloseable {
  import LogTap._

  /** A line of the log and what it says. The groups of the pattern go to the action. */
  private final class Line(family: String, pattern: Regex, action: Seq[String] => Unit) {
    def read(message: String): Boolean = missing(family) && (pattern.findFirstMatchIn(message) match {
      case Some(found) => action(found.subgroups); true
      case None => false
    })
  }

  // The class of the stage whose uid the next line of the same fit gives.
  private val stage = ThreadLocal.withInitial[String](() => null)

  private val lines: Map[String, Seq[Line]] = Map(
    Minimizers -> Seq(
      new Line("breeze", """Val and Grad Norm: (\S+) \(rel:""".r, { case Seq(value) =>
        if (missing(Hook.Framing) || missing("lbfgs")) if (runs.outermost) runs.begin(Alone, Algorithm("LBFGS"))
        runs.current("breeze").foreach(run => runs.loss(run, math.max(run.last + 1, 1), value.toDouble))
      }),
      // A minimisation's end is nearly its fit's, and for some fits the last that the log tells.
      new Line("breeze", "^Converged because".r, { _ =>
        runs.leave(Alone, Runs.Finished)
        if (missing(Hook.Framing) && runs.current("breeze").nonEmpty) runs.leaveInnermost(Runs.Estimator, Runs.Finished)
      })),
    Estimators -> Seq(
      new Line(Hook.Framing, """^\[\w+\] Stage class: (\S+)""".r, { case Seq(name) => stage.set(name) }),
      new Line(Hook.Framing, """^(\[\w+\]) Stage uid: (\S+)""".r, { case Seq(id, uid) => began(id.intern(), uid) }),
      new Line(Hook.Framing, """^(\[\w+\]) training finished""".r, { case Seq(id) => runs.leave(id.intern(), Runs.Finished) }),
      new Line("kmeans", """"Cost@iter=\d+":"([^"]+)"""".r, { case Seq(value) => told("kmeans", value) }),
      new Line("mixture", """"logLikelihood@iter\d+":"?([^"}]+)""".r, { case Seq(value) => told("mixture", value) }),
      new Line("irls", """Iteration \d+ ?: relative tolerance = (\S+)""".r, { case Seq(value) => told("irls", value) })))

  private def told(family: String, text: String): Unit =
    for (run <- runs.current(family)) runs.loss(run, text.toDouble)

  private def began(id: String, uid: String): Unit = {
    // A fit that returned from inside its closure left no line; a next one on its thread tells that it is over.
    if (runs.current.exists(!_.meta)) runs.leaveInnermost(Runs.Estimator, Runs.Finished)
    runs.enter(id, Runs.Estimator)
    runs.name(id, Algorithm(stage.get), Some(uid))
  }

  private val relays = lines.map { case (logger, known) => new LogRelay(context, logger, read(logger, known, _)) }

  private def read(logger: String, known: Seq[Line], event: LogEvent): Unit =
    if (event.getLevel == Level.ERROR && logger == Estimators) {
      // What a fit threw, without the fit's id; it is the innermost.
      if (missing(Hook.Framing)) runs.leaveInnermost(Runs.Estimator, Runs.Failed)
    } else {
      val message = event.getMessage.getFormattedMessage
      known.exists(_.read(message))
    }

  override def close(): Unit = relays.foreach(_.close())
}

private[loss] object LogTap {
  private val Minimizers = "breeze.optimize"
  private val Estimators = "org.apache.spark.ml.util.Instrumentation"
  private val Alone = new Object // key of a minimisation without a training that the log shows

  /** Families whose losses the log shows, at least in part. */
  val families: Set[String] = Set("breeze", "kmeans", "mixture", "irls")

  /** Listens to the log for these families, if the log is log4j's own. */
  def install(runs: Runs, missing: Set[String]): Either[String, LogTap] =
    LogManager.getContext(classOf[SparkContext].getClassLoader, false) match {
      case context: LoggerContext => Right(new LogTap(runs, missing, context))
      case other => Left(s"the log is written by ${other.getClass.getName}, not by log4j 2")
    }
}
