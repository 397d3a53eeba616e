package org.apache.spark.slaq.engine

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/**
 * The planning engine of one application: learns from what runs report and divides cores among them.
 *
 * Safe for use by many threads. The library keeps the open engines in a table and looks a handle up there for each
 * call, which is the closed-check: a call either finds the engine, and keeps it alive until it returns, or throws
 * IllegalStateException. Hence no lock is needed here, and a report never waits for another run's.
 *
 * All methods throw IllegalArgumentException when the engine refuses an input, such as a run that was not started, and
 * IllegalStateException on an engine that was closed. `now` is a time as given by [[Engine.now]].
 */
final class Engine private (native: Native, handle: Long) extends AutoCloseable {

  /** Begins to plan for a run. */
  def start(run: RunSpec, now: Double): Unit = native.start(handle, run.toJson, now)

  /**
   * Takes in the loss after an iteration, as the algorithm states it, and fits the run's curve anew.
   *
   * @param stages stages of the run that finished since the last report
   */
  def report(run: Long, iteration: Int, loss: Double, now: Double, stages: Seq[StageWork]): Unit =
    native.report(handle, run, iteration, loss, now, StageWork.flatten(stages))

  /** Takes in work of a run that brought no loss: before its first iteration, or when its algorithm has none. */
  def observe(run: Long, now: Double, stages: Seq[StageWork]): Unit =
    native.observe(handle, run, now, StageWork.flatten(stages))

  /** Ends a run; what it showed helps to plan the next one of its algorithm. */
  def finish(run: Long, now: Double): Unit = native.finish(handle, run, now)

  /**
   * Divides cores among the active runs for the next epoch.
   *
   * @param cores cores that exist
   * @param others summed weight of active pools with work that is no run's; 0 for none
   * @return cores by run, an entry for every active run
   */
  def plan(cores: Int, others: Double, now: Double): Map[Long, Int] =
    native.plan(handle, cores, others, now).grouped(2).map { case Array(run, share) => run -> share.toInt }.toMap

  /** The last plan with its reasons, as JSON. */
  def explain(): String = native.explain(handle)

  /**
   * What cores would be worth to each active run, for a planner that has no history: a JSON array.
   *
   * @param cores most cores that are asked about
   * @param horizon seconds over which gains are predicted
   */
  def outlook(cores: Int, horizon: Double): String = native.outlook(handle, cores, horizon)

  /** Frees the engine. Calls that are under way end first; closing again does nothing. */
  override def close(): Unit = native.close(handle)
}

object Engine {

  /**
   * Loads the library if need be and opens an engine.
   *
   * @param config settings without their `spark.slaq.` prefix; those not given have the engine's defaults
   * @return the engine, or why there is none: a library that can't be used, or a setting that the engine refuses, which
   *         is an IllegalArgumentException that names key, value and what is allowed
   */
  def open(config: Map[String, String]): Either[Throwable, Engine] = NativeLibrary.load().flatMap { _ =>
    try {
      val native = new Native
      Right(new Engine(native, native.open(Json.of(config), logLevel)))
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) => Left(e)
    }
  }

  /** Seconds on the clock of all times given to an engine. */
  def now(): Double = System.nanoTime() * 1e-9

  /** The library logs to standard error at the level that log4j has for this package. */
  private def logLevel: String = {
    val log = LoggerFactory.getLogger("org.apache.spark.slaq.engine")
    if (log.isTraceEnabled) "trace"
    else if (log.isDebugEnabled) "debug"
    else if (log.isInfoEnabled) "info"
    else if (log.isWarnEnabled) "warn"
    else if (log.isErrorEnabled) "error"
    else "off"
  }
}
