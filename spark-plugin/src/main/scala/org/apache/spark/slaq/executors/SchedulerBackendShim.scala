package org.apache.spark.slaq.executors

import org.apache.spark.ExecutorAllocationClient
import org.apache.spark.internal.Logging
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.scheduler.ExecutorDecommissionInfo

/**
 * Stands between Spark's dynamic allocation and the scheduler backend, and puts a target in place of Spark's number of
 * executors. The backend itself stays as it is: Spark casts it to its own class in places.
 *
 * Applications that use several resource profiles are left alone: a target is a number of executors of one kind.
 */
private[slaq] final class SchedulerBackendShim(backend: ExecutorAllocationClient) extends ExecutorAllocationClient with Logging {
  import SchedulerBackendShim._

  private var steering: Steering = Steering.Free
  private var asked = Request(Map.empty, Map.empty, Map.empty)
  private var sent: Option[Request] = None
  private var unused = 0
  private var recent = Seq.empty[(Long, Int)]
  private var several = false

  /** Changes what becomes of Spark's numbers, and tells the backend at once. */
  def steer(to: Steering): Unit = synchronized {
    if (to != steering) {
      logInfo(s"Executors: $steering -> $to, Spark asks for $wantedNow, ${getExecutorIds().size} are there")
      steering = to
      unused = 0
      push()
    }
  }

  /** Executors above which some have to go. */
  def most: Option[Int] = synchronized(if (several) None else steering.most.map(n => math.max(0, n - unused)))

  /** The most that Spark asked for of late: its number sags whenever a stage ends. */
  def wanted: Int = synchronized {
    recent = recent.filter(_._1 >= System.nanoTime() - RecentNanos)
    (wantedNow +: recent.map(_._2)).max
  }

  private def wantedNow = asked.totals.getOrElse(Default, 0)

  override def requestTotalExecutors(
      totals: Map[Int, Int],
      localityTasks: Map[Int, Int],
      hosts: Map[Int, Map[String, Int]]): Boolean = synchronized {
    recent = (recent :+ (System.nanoTime() -> wantedNow)).takeRight(RecentMost)
    asked = Request(totals, localityTasks, hosts)
    if (!several && totals.exists { case (profile, n) => profile != Default && n > 0 }) {
      several = true
      logInfo("The application uses several resource profiles: the number of its executors is Spark's affair")
    }
    push()
  }

  private def push(): Boolean = {
    val steered =
      if (several || steering == Steering.Free) asked
      else asked.copy(totals = asked.totals + (Default -> math.max(0, steering.of(wantedNow) - unused)))
    if (sent.contains(steered)) true
    else {
      sent = Some(steered)
      backend.requestTotalExecutors(steered.totals, steered.localityTasks, steered.hosts)
    }
  }

  /**
   * Spark's allocation removes executors that are idle for long, by this or the next. What it finds useless now is not
   * asked for again until the target changes, or executors would come and go for ever.
   */
  override def killExecutors(ids: Seq[String], adjustTarget: Boolean, countFailures: Boolean, force: Boolean): Seq[String] =
    idle(backend.killExecutors(ids, adjustTarget, countFailures, force), countFailures || adjustTarget)

  override def decommissionExecutors(
      executors: Array[(String, ExecutorDecommissionInfo)],
      adjustTarget: Boolean,
      triggeredByExecutor: Boolean): Seq[String] =
    idle(backend.decommissionExecutors(executors, adjustTarget, triggeredByExecutor), triggeredByExecutor || adjustTarget)

  private def idle(gone: Seq[String], otherwise: Boolean): Seq[String] = synchronized {
    if (!otherwise && steering.isInstanceOf[Steering.Exactly]) unused += gone.size
    gone
  }

  override def getExecutorIds(): Seq[String] = backend.getExecutorIds()
  override def isExecutorActive(id: String): Boolean = backend.isExecutorActive(id)
  override def requestExecutors(more: Int): Boolean = backend.requestExecutors(more)
  override def decommissionExecutorsOnHost(host: String): Boolean = backend.decommissionExecutorsOnHost(host)
  override def killExecutorsOnHost(host: String): Boolean = backend.killExecutorsOnHost(host)
}

private[slaq] object SchedulerBackendShim {
  private val Default = ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID
  private val RecentNanos = 10L * 1000 * 1000 * 1000
  private val RecentMost = 1000

  private final case class Request(totals: Map[Int, Int], localityTasks: Map[Int, Int], hosts: Map[Int, Map[String, Int]])

  /**
   * Puts a shim into an application that has dynamic allocation. Its client is a private field, set once, before user
   * code runs.
   */
  def install(sc: org.apache.spark.SparkContext): Option[SchedulerBackendShim] =
    (sc.schedulerBackend, sc.executorAllocationManager) match {
      case (backend: ExecutorAllocationClient, Some(manager)) =>
        val shim = new SchedulerBackendShim(backend)
        val field = manager.getClass.getDeclaredFields.find(f => f.getName == "client" || f.getName.endsWith("$$client"))
          .getOrElse(throw new NoSuchFieldException("ExecutorAllocationManager.client"))
        field.setAccessible(true)
        field.set(manager, shim)
        Some(shim)
      case _ => None
    }
}
