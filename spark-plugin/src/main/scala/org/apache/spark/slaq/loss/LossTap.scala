// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicBoolean
import java.util.function.BiConsumer

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd}

/**
 * Sees the trainings of one SparkContext and their losses, of jobs that know nothing of it. Nothing that goes wrong in
 * here reaches a training.
 *
 * Tiers, from the exact one down: probes woven into MLlib and breeze ([[Weaving]]), what these log ([[LogTap]]), and
 * the number of completed stages ([[StageCounter]]) for the trainings that have no loss at all.
 */
final class LossTap private (sc: SparkContext, mode: String) extends AutoCloseable with Logging {
  import LossTap._

  private val told = new CopyOnWriteArrayList[RunEvents]
  private val complained = new AtomicBoolean
  private val closed = new AtomicBoolean
  private var weaving: Option[Weaving] = None
  private var logTap: Option[LogTap] = None

  private val runs = new Runs(sc, new RunEvents {
    override def started(run: Run): Unit = tell(_.started(run))
    override def loss(run: Run, iteration: Int, value: Double): Unit = tell(_.loss(run, iteration, value))
    override def progress(run: Run, done: Int, total: Int): Unit = tell(_.progress(run, done, total))
    override def finished(run: Run, outcome: String): Unit = tell(_.finished(run, outcome))
  }, tierOf)

  private val counter = new StageCounter(runs) {
    override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = close()
  }

  /** The best that this tap has: `weave`, `log` or `none`. A run's own may be lower, see [[Run.tier]]. */
  def tier: String = if (weaving.nonEmpty) "weave" else if (logTap.nonEmpty) "log" else "none"

  /** An open run by its id. */
  def run(id: Long): Option[Run] = runs.get(id)

  /** Tells another one what trainings do from now on, until the result is closed. */
  def listen(events: RunEvents): AutoCloseable = {
    told.add(events)
    () => told.remove(events)
  }

  /** Abandons the runs that are still open and stops listening. What is woven stays and does nothing. */
  override def close(): Unit = if (closed.compareAndSet(false, true)) {
    if (active.contains(this)) active = None
    guarded(weaving.foreach(_.listen(null)))
    guarded(logTap.foreach(_.close()))
    guarded(runs.abandonAll())
    guarded(sc.removeSparkListener(counter))
  }

  private def open(): Unit = {
    if (mode != "log") Weaving.install() match {
      case Right(woven) =>
        woven.listen(listener(woven.families))
        weaving = Some(woven)
      case Left(why) if mode == "weave" =>
        logWarning(s"SLAQ cannot weave loss probes, which spark.slaq.losses=weave demands, so trainings keep their fair " +
          s"shares: $why")
      case Left(why) => logInfo(s"SLAQ reads losses from the log, to fewer digits and of fewer algorithms: $why")
    }
    val missing = LogTap.families + Hook.Framing + "lbfgs" -- weaving.fold(Set.empty[String])(_.families)
    if (mode != "weave" && missing.nonEmpty) LogTap.install(runs, missing) match {
      case Right(tap) => logTap = Some(tap)
      case Left(why) => logWarning(s"SLAQ sees no losses, so trainings keep their fair shares: $why")
    }
    sc.addSparkListener(counter)
  }

  /** Passes the values of a probe on to its family. */
  private def listener(woven: Set[String]): BiConsumer[String, Array[AnyRef]] = {
    val usable = Hook.all.filter(hook => woven(hook.family)).map(_.probe).toSet
    val handlers = Family.all(runs).flatMap(_.probes).filter { case (probe, _) => usable(probe) }.toMap
    (probe, values) => handlers.get(probe).foreach(handler => guarded(handler(values)))
  }

  private def tierOf(algorithm: Algorithm): String =
    if (!algorithm.hasLoss) "none"
    else if (weaving.exists(woven => algorithm.families.forall(woven.families))) "weave"
    else if (logTap.nonEmpty && algorithm.families.exists(LogTap.families)) "log"
    else "none"

  private def tell(event: RunEvents => Unit): Unit = told.forEach(to => guarded(event(to)))

  /** Trainings pass here once an iteration: of all that may go wrong, the first is logged. */
  private def guarded(action: => Unit): Unit =
    try action catch {
      case Harmless(error) =>
        if (complained.compareAndSet(false, true)) logWarning("SLAQ failed to follow a training; further failures are silent", error)
    }
}

object LossTap extends Logging {
  /** Local property with the id of the run whose fit is at work on the thread. */
  val RunProperty = "spark.slaq.run"

  /** Local property with which a user may name the trainings of a thread. */
  val NameProperty = "spark.slaq.run.name"

  /** The open tap of this JVM. */
  @volatile private[loss] var active: Option[LossTap] = None

  /** The open tap of this JVM, to listen to. */
  def current: Option[LossTap] = active

  /** Begins in the background with what [[start]] will need. Calling it is not necessary, it saves time. */
  def prepare(mode: String): Unit = if (mode == "auto" || mode == "weave") Weaving.begin()

  /**
   * Starts to follow the trainings of a context, until it stops or the tap is closed. Never fails: at worst it sees
   * nothing, and says so in the log.
   *
   * @param mode `auto`: exact losses, from the log where those are not to be had; `weave`: exact losses or none, with a
   *             warning; `log`: from the log alone; `off`: none
   */
  def start(sc: SparkContext, mode: String, events: RunEvents): LossTap = {
    val tap = new LossTap(sc, mode)
    tap.told.add(events)
    active.foreach(_.close()) // of a context that ended without saying so
    active = Some(tap)
    if (mode != "off") try tap.open() catch {
      case Harmless(error) => logWarning("SLAQ cannot follow trainings, so they keep their fair shares", error)
    }
    tap
  }
}

/** What a tap survives: all but what ends the JVM or a thread on purpose. A missing or changed class is no reason to fail. */
private[loss] object Harmless {
  def unapply(error: Throwable): Option[Throwable] = error match {
    case _: LinkageError => Some(error)
    case NonFatal(_) => Some(error)
    case _ => None
  }
}
