package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.util.concurrent.{Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.{ExecutorAllocationClient, SparkContext}
import org.apache.spark.internal.Logging
import org.apache.spark.slaq.SlaqConf
import org.apache.spark.slaq.engine.Engine
import org.apache.spark.slaq.executors._
import org.apache.spark.util.ThreadUtils

/**
 * An application's side of the arbiter: reports its runs' gains every few seconds, and steers the number of executors
 * to the target that it is answered. Between reports, surplus executors are retired and cached blocks move to new ones.
 *
 * Silence of the arbiter changes nothing at first; after `spark.slaq.arbiter.timeout` Spark decides again, until the
 * arbiter answers. Before the first answer the application has its minimum, so that the first one to come does not take
 * everything.
 */
private[slaq] final class ArbiterLink private (
    sc: SparkContext,
    conf: ArbiterConf,
    engine: Engine,
    arbiter: Arbiter,
    shim: Option[SchedulerBackendShim],
    holdings: Holdings,
    reconciler: Option[Reconciler],
    mover: Option[CacheMover])
    extends AutoCloseable
    with Logging {
  import ArbiterLink._

  private val mapper = new ObjectMapper
  private val timer = Executors.newScheduledThreadPool(3, ThreadUtils.namedThreadFactory("slaq-arbiter"))
  private val complaints = new RateLimit(60.0)
  private val stopped = new AtomicBoolean

  private val cpus = sc.conf.getInt("spark.task.cpus", 1)
  private val perExecutor = sc.conf.getInt("spark.executor.cores", 1)
  private val minimum = math.max(1, sc.conf.getInt("spark.dynamicAllocation.minExecutors", 1))
  private val maximum = Seq(
    sc.conf.getInt("spark.dynamicAllocation.maxExecutors", Int.MaxValue),
    sc.conf.getOption("spark.cores.max").fold(Int.MaxValue)(_.trim.toInt / perExecutor)).min

  @volatile private var heard = Engine.now()
  @volatile private var silent = false
  @volatile private var planned = false
  @volatile private var training = false
  private var failures = 0
  private var asOf: JsonNode = mapper.createObjectNode()
  private var last = ""

  private def start(): Unit = {
    shim.foreach(_.steer(Steering.AtMost(minimum)))
    timer.execute(() => reporting())
    every(ReconcileMillis)(reconciler.foreach(_.step(pausable())))
    mover.foreach(m => every(MoveMillis)(m.step()))
  }

  private def every(millis: Long)(body: => Unit): Unit =
    timer.scheduleWithFixedDelay(() => guarded(body), millis, millis, TimeUnit.MILLISECONDS)

  private def reporting(): Unit = {
    guarded(exchange())
    val wait =
      if (failures > 0) math.min(if (silent) SilentSeconds else RetrySeconds, FirstSeconds * (1 << math.min(failures, 10)))
      // Quickly until there is a target: the application can do little without.
      else if (planned) conf.interval
      else math.min(conf.interval, FirstSeconds)
    if (!stopped.get) timer.schedule((() => reporting()): Runnable, (wait * 1000).toLong, TimeUnit.MILLISECONDS)
  }

  private def exchange(): Unit =
    try {
      val report = compose()
      val answer = mapper.readTree(arbiter.ask(mapper.writeValueAsBytes(report)))
      if (answer.has("error")) throw new IOException(s"the arbiter refuses the report: ${answer.path("error").asText}")
      failures = 0
      obey(answer)
    } catch {
      case e: IOException if !stopped.get =>
        failures += 1
        endure(e)
    }

  private def compose(): ObjectNode = {
    val runs = mapper.readTree(engine.outlook(asOf.path("cores").asInt(FirstCores) / cpus, asOf.path("period").asDouble(FirstPeriod)))
    training = runs.size > 0
    if (cpus > 1) inCores(runs.asInstanceOf[ArrayNode])
    val report = mapper.createObjectNode()
    report.put("version", Version)
    report.put("app", sc.applicationId)
    report.put("name", sc.appName)
    report.put("tenant", conf.tenant.getOrElse(sc.sparkUser))
    report.put("weight", SlaqConf.Weight.of(sc.conf))
    report.put("coresPerExecutor", perExecutor)
    report.put("minimum", minimum)
    report.put("maximum", maximum)
    report.put("executors", holdings.active().size)
    report.put("wanted", shim.fold(0)(_.wanted))
    report.put("fixed", shim.isEmpty)
    report.put("pausable", pausable())
    report.set[ObjectNode]("runs", runs)
    report
  }

  /** The engine counts task slots, the arbiter cores. */
  private def inCores(runs: ArrayNode): Unit = runs.forEach { run =>
    run.path("gain").forEach { point =>
      val pair = point.asInstanceOf[ArrayNode]
      pair.set(0, mapper.getNodeFactory.numberNode(pair.get(0).asInt * cpus))
    }
  }

  private def pausable(): Boolean = !training && !holdings.shuffled() && holdings.executors().forall(e => e.cached == 0 && !e.busy)

  private def obey(answer: JsonNode): Unit = {
    heard = Engine.now()
    if (silent) logInfo(s"The arbiter at ${conf.address} answers again")
    silent = false
    asOf = answer
    val target = answer.path("target")
    if (target.isInt) {
      planned = target.asInt > 0
      shim.foreach(_.steer(if (training) Steering.Exactly(target.asInt) else Steering.AtMost(target.asInt)))
      val words = s"target ${target.asInt}: ${answer.path("reason").asText}"
      if (words != last && log.isDebugEnabled) logDebug(s"The arbiter says $words")
      last = words
    }
  }

  private def silence: Double = Engine.now() - heard

  /** A single answer that is late is not worth a word. */
  private def endure(e: IOException): Unit = if (!silent) {
    if (silence >= conf.timeout) {
      silent = true
      planned = false
      logWarning(s"Nothing was heard of the arbiter for ${conf.timeout} s, so Spark decides the number of executors until it answers: ${e.getMessage}")
      shim.foreach(_.steer(Steering.Free))
    } else if (silence > conf.interval + 2 * RemoteArbiter.AnswerSeconds) {
      complaints(say => logWarning(s"Executors stay as they are: ${e.getMessage}$say"))
    }
  }

  /** Nothing here may end a timer's task for good, nor speak up while the application is stopping. */
  private def guarded(body: => Unit): Unit =
    try if (!stopped.get && !sc.isStopped) body
    catch {
      case NonFatal(e) => if (!stopped.get && !sc.isStopped) complaints(say => logWarning(s"SLAQ could not steer the executors this time$say", e))
    }

  override def close(): Unit = if (stopped.compareAndSet(false, true)) {
    timer.shutdownNow()
    // An arbiter that hangs must not hold up the end; our lease runs out without a farewell too.
    if (silence <= conf.interval + RemoteArbiter.AnswerSeconds) {
      try {
        arbiter.ask(mapper.writeValueAsBytes(mapper.createObjectNode().put("version", Version).put("app", sc.applicationId).put("bye", true)))
      } catch { case e: IOException => logDebug(s"The arbiter did not hear our end: ${e.getMessage}") }
    }
    arbiter.close()
  }
}

private[slaq] object ArbiterLink extends Logging {
  private val Version = 1
  private val ReconcileMillis = 200L
  private val MoveMillis = 500L
  private val FirstSeconds = 0.5

  /**
   * Longest time between tries: Spark logs each that fails. While the last target is kept it is less than a lease, so that
   * a restarted arbiter hears of everybody before it moves anything.
   */
  private val RetrySeconds = 5.0
  private val SilentSeconds = 15.0

  /** Until the arbiter has said how many cores there are, and for how long it plans. */
  private val FirstCores = 64
  private val FirstPeriod = 20.0

  /** Takes the application into an arbiter's plan, unless it has no executors. To be called before user code runs. */
  def start(sc: SparkContext, conf: ArbiterConf, engine: Engine): Option[ArbiterLink] = sc.schedulerBackend match {
    case backend: ExecutorAllocationClient =>
      val arbiter = new RemoteArbiter(conf.address, sc.conf.get("spark.driver.host", "127.0.0.1"), conf.secret)
      val shim = if (ExecutorDefaults.steered(sc.conf)) SchedulerBackendShim.install(sc) else None
      val holdings = new Holdings(sc, backend)
      val decommission = sc.conf.getBoolean("spark.decommission.enabled", false)
      val reconciler = shim.map(new Reconciler(_, backend, holdings, decommission))
      val mover = for (rate <- conf.moveRate; _ <- shim) yield new CacheMover(sc, holdings, rate)
      val link = new ArbiterLink(sc, conf, engine, arbiter, shim, holdings, reconciler, mover)
      link.start()
      logInfo(s"Executors follow the arbiter at ${conf.address}" +
        (if (shim.isEmpty) ", which only counts them: the application has no dynamic allocation" else ""))
      Some(link)
    case _ =>
      logInfo(s"The arbiter at ${conf.address} is left out: the application has no executors, its driver does all work")
      None
  }
}
