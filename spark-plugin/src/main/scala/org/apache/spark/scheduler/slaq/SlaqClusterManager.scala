package org.apache.spark.scheduler.slaq

import java.util.ServiceLoader

import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, SparkException}
import org.apache.spark.SparkMasterRegex._
import org.apache.spark.deploy.LocalSparkCluster
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config
import org.apache.spark.resource.ResourceUtils
import org.apache.spark.scheduler._
import org.apache.spark.scheduler.cluster.StandaloneSchedulerBackend
import org.apache.spark.scheduler.local.LocalSchedulerBackend
import org.apache.spark.util.Utils

/**
 * The inner half of the way in: asked for `slaq:<master>`, as which the plugin wrote the user's master a moment ago, it
 * gives the master back its name and pairs Spark's own backend for it with our task scheduler.
 *
 * Local and standalone masters are built as SparkContext builds them. For all others Spark's cluster manager of that
 * master does everything; of the scheduler it makes, ours takes the place if its kind is known, and otherwise stays.
 */
private[spark] class SlaqClusterManager extends ExternalClusterManager with Logging {
  import SlaqClusterManager._

  private var delegate: Option[ExternalClusterManager] = None

  override def canCreate(master: String): Boolean = master.startsWith(Prefix)

  override def createTaskScheduler(sc: SparkContext, url: String): TaskScheduler = {
    val master = url.stripPrefix(Prefix)
    sc.conf.set("spark.master", master)
    master match {
      case "local" | LOCAL_N_REGEX(_) => new SlaqTaskScheduler(sc, maxTaskFailures = 1, isLocal = true)
      case LOCAL_N_FAILURES_REGEX(_, failures) => new SlaqTaskScheduler(sc, failures.toInt, isLocal = true)
      case SPARK_REGEX(_) | LOCAL_CLUSTER_REGEX(_, _, _) => new SlaqTaskScheduler(sc, sc.conf.get(config.TASK_MAX_FAILURES), isLocal = false)
      case _ => inPlaceOf(manager(master).createTaskScheduler(sc, master))
    }
  }

  override def createSchedulerBackend(sc: SparkContext, url: String, scheduler: TaskScheduler): SchedulerBackend = {
    lazy val ours = scheduler.asInstanceOf[TaskSchedulerImpl]
    sc.master match {
      case "local" => local(sc, ours, 1)
      case LOCAL_N_REGEX(threads) => local(sc, ours, count(threads))
      case LOCAL_N_FAILURES_REGEX(threads, _) => local(sc, ours, count(threads))
      case SPARK_REGEX(masters) => new StandaloneSchedulerBackend(ours, sc, masters.split(",").map("spark://" + _))
      case LOCAL_CLUSTER_REGEX(workers, cores, memory) => localCluster(sc, ours, workers.toInt, cores.toInt, memory.toInt)
      case master => manager(master).createSchedulerBackend(sc, master, scheduler)
    }
  }

  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit = {
    val ours = scheduler.asInstanceOf[TaskSchedulerImpl]
    ours.sc.master match {
      case "local" | LOCAL_N_REGEX(_) | LOCAL_N_FAILURES_REGEX(_, _) | SPARK_REGEX(_) | LOCAL_CLUSTER_REGEX(_, _, _) => ours.initialize(backend)
      case master => manager(master).initialize(scheduler, backend)
    }
  }

  /** A cluster manager's scheduler with shares. Not used itself, it has done nothing yet and is garbage. */
  private def inPlaceOf(scheduler: TaskScheduler): TaskScheduler =
    try {
      scheduler match {
        case theirs: TaskSchedulerImpl if theirs.getClass == classOf[TaskSchedulerImpl] =>
          new SlaqTaskScheduler(theirs.sc, theirs.maxTaskFailures, isLocal = false)
        case theirs: TaskSchedulerImpl => SlaqYarnSchedulers.inPlaceOf(theirs).getOrElse(unknown(theirs))
        case theirs => unknown(theirs)
      }
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        logWarning("SLAQ can't extend the scheduler of this cluster manager: Spark schedules as usual", e)
        scheduler
    }

  private def unknown(scheduler: TaskScheduler): TaskScheduler = {
    logWarning(s"SLAQ does not know the scheduler ${scheduler.getClass.getName} of this cluster manager: Spark schedules as usual")
    scheduler
  }

  private def local(sc: SparkContext, scheduler: TaskSchedulerImpl, threads: Int): SchedulerBackend = {
    if (threads <= 0) throw new SparkException(s"Asked to run locally with $threads threads")
    val taskCores = sc.conf.get(config.CPUS_PER_TASK)
    ResourceUtils.validateTaskCpusLargeEnough(sc.conf, threads, taskCores)
    ResourceUtils.warnOnWastedResources(sc.resourceProfileManager.defaultResourceProfile, sc.conf, Some(threads))
    new LocalSchedulerBackend(sc.getConf, scheduler, threads)
  }

  private def count(threads: String): Int = if (threads == "*") Runtime.getRuntime.availableProcessors else threads.toInt

  private def localCluster(sc: SparkContext, scheduler: TaskSchedulerImpl, workers: Int, cores: Int, memory: Int): SchedulerBackend = {
    if (sc.executorMemory > memory) {
      throw new SparkException(s"Asked to launch cluster with $memory MiB/worker but requested ${sc.executorMemory} MiB/executor")
    }
    // As SparkContext does: workers of one machine are told apart, so that tests of remote reads are such.
    sc.conf.setIfMissing(config.SHUFFLE_HOST_LOCAL_DISK_READING_ENABLED, false)
    val cluster = LocalSparkCluster(workers, cores, memory, sc.conf)
    val backend = new StandaloneSchedulerBackend(scheduler, sc, cluster.start())
    backend.shutdownCallback = (_: StandaloneSchedulerBackend) => cluster.stop()
    backend
  }

  /** Spark's own manager of a master, and its errors when there is none or more than one. */
  private def manager(master: String): ExternalClusterManager = delegate.getOrElse {
    val managers = available.filter(m => !m.isInstanceOf[SlaqClusterManager] && m.canCreate(master))
    if (managers.length > 1) {
      throw new SparkException(s"Multiple external cluster managers registered for the url $master: ${managers.mkString(", ")}")
    }
    delegate = managers.headOption
    delegate.getOrElse(throw new SparkException(s"Could not parse Master URL: '$master'"))
  }
}

private[spark] object SlaqClusterManager {

  /** Stands before the user's master between the plugin's start and the making of the scheduler. */
  val Prefix = "slaq:"

  /** Whether Spark will find this class, asked as it will ask. */
  def isFound: Boolean = available.exists(_.isInstanceOf[SlaqClusterManager])

  private def available: Seq[ExternalClusterManager] = {
    val managers = ServiceLoader.load(classOf[ExternalClusterManager], Utils.getContextOrSparkClassLoader).iterator
    val all = Seq.newBuilder[ExternalClusterManager]
    while (managers.hasNext) all += managers.next()
    all.result()
  }
}
