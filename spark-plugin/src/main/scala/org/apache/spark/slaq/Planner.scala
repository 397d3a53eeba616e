package org.apache.spark.slaq

import java.util.concurrent.{ConcurrentHashMap, Semaphore, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.slaq.{OtherWork, SlaqScheduling}
import org.apache.spark.slaq.engine.{Engine, RunSpec}
import org.apache.spark.slaq.loss.{Run, RunEvents}

/**
 * Stands between the runs, the engine and the scheduler: tells the engine what runs report and what their stages cost,
 * and sets the shares that it plans, every epoch and at once when a run starts or ends or when cores come or go.
 *
 * Should anything here fail, it says so once, takes all limits away and plans no more.
 *
 * @param scheduler None where Spark's own scheduler runs: then runs are only recorded
 * @param engine None if nothing is planned
 */
private[slaq] final class Planner(
    sc: SparkContext,
    conf: SlaqConf,
    scheduler: Option[SlaqScheduling],
    engine: Option[Engine],
    record: Option[Record])
    extends RunEvents
    with AutoCloseable
    with Logging {
  import Planner._

  private val active = new ConcurrentHashMap[Long, ActiveRun]
  private val pools = new PoolProperty(sc)
  private val due = new Semaphore(0)
  private val stopped = new AtomicBoolean
  private val mapper = new ObjectMapper
  private val thread = new Thread(() => loop(), "slaq-planner")
  private val otherRunning = scheduler.map(s => new MeanRunning(s.accounts.others, Clock.wall()))
  private var epoch = 0L
  // The first plan knows of no runs, and the one after the last run gives all cores to other work.
  private var planning = true

  def start(): Unit = {
    scheduler.foreach(_.listen(coresChanged = () => due.release(), othersStarted = () => due.release()))
    thread.setDaemon(true)
    thread.start()
  }

  override def close(): Unit = if (stopped.compareAndSet(false, true)) {
    due.release()
    thread.join(CloseMillis)
  }

  override def started(run: Run): Unit = guarded {
    val planned = !run.meta && pools.isFree(scheduler) && engine.exists(accepts(_, run))
    val account = scheduler.filter(_ => !run.meta).map { s =>
      val (account, pool) = s.open(run.id, if (planned) Some(provisionalShare(s)) else None)
      pool.foreach(pools.enter(run, _))
      account
    }
    val entry = new ActiveRun(run, account, planned, Clock.wall())
    logInfo(s"${describe(run)} starts")
    record.foreach(_.write(Lines.start(entry)))
    active.put(run.id, entry)
    if (planned) due.release()
  }

  override def loss(run: Run, iteration: Int, value: Double): Unit = guarded {
    for (entry <- Option(active.get(run.id))) {
      entry.add(LossPoint(iteration, value, Clock.wall()))
      val stages = entry.account.map(_.drainStages()).getOrElse(Nil)
      if (entry.planned) engine.foreach(_.report(run.id, iteration, value, Engine.now(), stages))
    }
  }

  override def progress(run: Run, done: Int, total: Int): Unit = guarded {
    for (entry <- Option(active.get(run.id)) if entry.planned; account <- entry.account) {
      engine.foreach(_.observe(run.id, Engine.now(), account.drainStages()))
    }
  }

  override def finished(run: Run, outcome: String): Unit = guarded {
    for (entry <- Option(active.remove(run.id))) {
      val now = Clock.wall()
      val line = record.map(_ => Lines.finish(now, entry, outcome))
      pools.leave(run)
      scheduler.filter(_ => entry.account.isDefined).foreach(_.close(run.id))
      logInfo(ending(entry, outcome, now))
      for (file <- record; node <- line) file.write(node)
      if (entry.planned) {
        engine.foreach(forget(_, run))
        due.release()
      }
    }
  }

  /** Tells the engine; a run that it refuses, such as one of a negative weight, is not planned, and nothing else happens. */
  private def accepts(engine: Engine, run: Run): Boolean =
    try {
      engine.start(specOf(run), Engine.now())
      true
    } catch {
      case wrong: IllegalArgumentException =>
        logWarning(s"SLAQ does not plan for ${describe(run)}: ${wrong.getMessage}")
        false
    }

  /** What the engine learns from a run's end may not reach its file, which hurts nobody now. */
  private def forget(engine: Engine, run: Run): Unit =
    try engine.finish(run.id, Engine.now())
    catch { case NonFatal(e) if !stopped.get => logWarning(s"SLAQ: ${e.getMessage}") }

  /** A fair share until the plan that follows at once. */
  private def provisionalShare(scheduler: SlaqScheduling): Int =
    math.max(1, scheduler.slots() / (1 + active.values.stream.filter(_.planned).count().toInt))

  private def specOf(run: Run): RunSpec = RunSpec(
    run.id, run.parent.map(_.id), run.algorithm, Some(run.name), run.maximise, run.hasLoss, run.maxIterations,
    run.tolerance, Option(sc.getLocalProperty(SlaqConf.Weight.key)).fold(conf.weight)(w => SlaqConf.Weight.of(Some(w))))

  private def loop(): Unit = {
    val epochMillis = (conf.epoch * 1000).toLong
    while (!stopped.get) {
      due.tryAcquire(epochMillis, TimeUnit.MILLISECONDS)
      due.drainPermits()
      if (!stopped.get) {
        guarded(if (planning || !active.isEmpty) plan())
        // Runs that start together are planned for together.
        Thread.sleep(math.min(epochMillis, TogetherMillis))
      }
    }
  }

  private def plan(): Unit = {
    val cores = scheduler.fold(0)(_.slots())
    val others = scheduler.fold(OtherWork.None)(_.otherWork())
    val runs = active.values.toArray(Array.empty[ActiveRun]).toSeq.sortBy(_.run.id)
    runs.filter(run => run.planned && run.lastLoss.isEmpty).foreach(observe)
    val shares = if (cores > 0) engine.fold(Map.empty[Long, Int])(share(_, cores, others, runs)) else Map.empty[Long, Int]
    val reserve = if (others.weight > 0 && shares.nonEmpty) Some(cores - shares.values.sum).filter(_ > 0) else None
    if (engine.isDefined && cores > 0) scheduler.foreach(_.plan(shares, reserve, cores))
    val now = Clock.wall()
    runs.foreach(run => shares.get(run.run.id).foreach(run.share(_, now)))
    planning = runs.nonEmpty || cores == 0
    epoch += 1
    if (runs.nonEmpty && (record.isDefined || log.isDebugEnabled)) {
      val plan = Plan(epoch, cores, others, reserve, otherRunning.fold(0.0)(_.since(now)), shares, explained())
      if (log.isDebugEnabled) plan.explained.values.foreach(run => logDebug(decision(plan, run)))
      record.foreach(_.write(Lines.plan(now, plan, runs)))
    }
  }

  /** What a run does before its first loss tells how many cores it can use. */
  private def observe(entry: ActiveRun): Unit =
    for (engine <- engine; account <- entry.account) {
      val stages = account.drainStages()
      try if (stages.nonEmpty) engine.observe(entry.run.id, Engine.now(), stages)
      catch { case _: IllegalArgumentException => } // it ended meanwhile
    }

  private def share(engine: Engine, cores: Int, others: OtherWork, runs: Seq[ActiveRun]): Map[Long, Int] = {
    val shares = engine.plan(cores, others.claim(cores, runs.count(_.planned)), Engine.now())
    // One core can't be divided: the runs and the other work have it in turns.
    if (cores == 1 && others.weight > 0 && epoch % 2 == 0) shares.map { case (run, _) => run -> 0 } else shares
  }

  private def explained(): Map[Long, ObjectNode] = {
    val runs = engine.map(e => mapper.readTree(e.explain()).path("runs")).toSeq
    runs.flatMap { list =>
      (0 until list.size).map(list.get(_).asInstanceOf[ObjectNode]).map(run => run.get("run").asLong -> run)
    }.toMap
  }

  private def decision(plan: Plan, run: ObjectNode): String = {
    def text(key: String) = run.path(key).asText("-")
    s"plan ${plan.epoch}: ${text("cores")} of ${plan.cores} cores to run ${text("run")} (${text("algorithm")} ${text("name")}), " +
      s"iteration ${text("iteration")}, loss ${text("loss")}, normalised ${text("normalisedLoss")}, gain ${text("gain")}: ${text("reason")}"
  }

  private def ending(entry: ActiveRun, outcome: String, now: Double): String = {
    val loss = entry.lastLoss.fold("no loss")(point => s"loss ${point.loss}")
    val cores = if (entry.planned) f", a mean share of ${entry.meanShare(now)}%.1f cores" else ""
    f"${describe(entry.run)} $outcome after ${now - entry.startedAt}%.1f s: ${entry.iterations} iterations, $loss$cores, " +
      f"${entry.coreSeconds}%.1f core seconds"
  }

  private def describe(run: Run): String =
    s"Run ${run.id} (${run.algorithm} ${run.name}${run.parent.fold("")(p => s", part of run ${p.id}")})"

  private def guarded(body: => Unit): Unit = if (!stopped.get) {
    try body
    catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        if (stopped.compareAndSet(false, true)) {
          scheduler.foreach(_.lift())
          if (!sc.isStopped) logError("SLAQ plans no more, all limits are lifted: Spark schedules as usual", e)
        }
    }
  }
}

private[slaq] object Planner {
  private val CloseMillis = 2000L
  private val TogetherMillis = 20L
}
