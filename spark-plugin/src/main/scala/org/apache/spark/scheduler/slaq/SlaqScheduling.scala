package org.apache.spark.scheduler.slaq

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.apache.spark.scheduler._
import org.apache.spark.slaq.SlaqConf
import org.apache.spark.slaq.loss.LossTap
import org.apache.spark.util.ThreadUtils

/**
 * Spark's task scheduler with shares for training runs; mixed into that of every cluster manager.
 *
 * Each round of offers has two passes. The first is Spark's own, in which task sets of a run at its limit refuse. If
 * somebody was refused and cores are left, the second offers those that may be lent, without limits. Tasks of a run
 * carry its id as a local property of the job, whichever thread or language submitted it.
 */
private[spark] trait SlaqScheduling extends TaskSchedulerImpl {
  private lazy val settings = SlaqConf.read(conf)
  private lazy val pools = new RunPools(rootPool)
  private lazy val timer = ThreadUtils.newDaemonSingleThreadScheduledExecutor("slaq-lend")
  private lazy val reviving = new AtomicBoolean
  @volatile private var coresChanged: () => Unit = () => ()
  @volatile private var othersStarted: () => Unit = () => ()

  private[slaq] lazy val offering = new Offering

  /** Guarded by the scheduler's lock. */
  private var draining = Set.empty[String]

  /** Cores by run. */
  lazy val accounts = new RunAccounts(settings.lendDelay.map(d => (d * 1e9).toLong))

  /** Whether work goes through pools, of which users may name some. */
  def fair: Boolean = schedulingMode == SchedulingMode.FAIR

  /** Task slots that exist now. Not to be called under the scheduler's lock, since the backend's is taken. */
  def slots(): Int = backend.maxNumConcurrentTasks(sc.resourceProfileManager.defaultResourceProfile)

  /**
   * Sets which executors get no more tasks; the others get them again.
   *
   * @return those of them on which no task runs, nor will while they are named here
   */
  def drain(executors: Set[String]): Set[String] = {
    val (reopened, empty) = synchronized {
      val reopened = draining.diff(executors).nonEmpty
      draining = executors
      (reopened, executors.filterNot(isExecutorBusy))
    }
    if (reopened) revive()
    empty
  }

  /** Sets whom to tell of executors that come or go, and of other work that begins where there was none. */
  def listen(coresChanged: () => Unit, othersStarted: () => Unit): Unit = {
    this.coresChanged = coresChanged
    this.othersStarted = othersStarted
  }

  /**
   * Opens a run's account.
   *
   * @param share cores until the first plan; None for a run that is only counted
   * @return the account, and the pool of the run where it has one
   */
  def open(run: Long, share: Option[Int]): (RunAccount, Option[String]) = synchronized {
    val account = accounts.open(run, share)
    val pool = share.filter(_ => fair).map { cores =>
      val pool = pools.open(run)
      pool.setShare(cores)
      pool.name
    }
    (account, pool)
  }

  /** Closes a run's account. Tasks that it left behind are still counted in it. */
  def close(run: Long): Unit = synchronized {
    accounts.close(run)
    pools.close(run)
  }

  /** Sets the shares of a plan; see [[RunAccounts.plan]]. */
  def plan(shares: Map[Long, Int], reserve: Option[Int], cores: Int): Unit = {
    synchronized {
      accounts.plan(shares, reserve, cores)
      shares.foreach { case (run, share) => pools.get(run).foreach(_.setShare(share)) }
    }
    revive()
  }

  /** Takes all limits away, for good. */
  def lift(): Unit = {
    synchronized(accounts.lift())
    revive()
  }

  /** What the other work that has tasks may claim by the rules of the fair scheduler. */
  def otherWork(): OtherWork = synchronized {
    val queues = if (fair) rootPool.schedulableQueue.toArray(Array.empty[Schedulable]).toSeq else Seq(rootPool)
    queues.filter(hasOtherWork).foldLeft(OtherWork.None) { (sum, pool) =>
      if (fair) OtherWork(sum.weight + pool.weight, sum.minShare + pool.minShare) else OtherWork(1, 0)
    }
  }

  private def hasOtherWork(queue: Schedulable): Boolean = !queue.isInstanceOf[RunPool] && queue.getSortedTaskSetQueue.exists {
    case set: LimitedTaskSetManager => set.account == accounts.others && !set.isZombie
    case _ => false
  }

  override private[scheduler] def createTaskSetManager(taskSet: TaskSet, maxTaskFailures: Int): TaskSetManager =
    try {
      val account = if (settings.plans) route(taskSet) else runOf(taskSet).flatMap(accounts.get).getOrElse(accounts.others)
      new LimitedTaskSetManager(this, taskSet, maxTaskFailures, account)
    } catch {
      case NonFatal(e) =>
        logWarning(s"SLAQ leaves task set ${taskSet.id} to Spark's scheduler", e)
        super.createTaskSetManager(taskSet, maxTaskFailures)
    }

  private def runOf(taskSet: TaskSet): Option[Long] =
    Option(taskSet.properties).flatMap(p => Option(p.getProperty(LossTap.RunProperty))).map(_.toLong)

  /** Sends a run's tasks to its pool, and keeps others out: a thread that a run started inherits the pool's name for good. */
  private def route(taskSet: TaskSet): RunAccount = {
    val named = if (fair) Option(taskSet.properties).flatMap(p => Option(p.getProperty(PoolProperty))) else None
    val foreign = named.exists(!pools.isOurs(_))
    val account = if (foreign) None else runOf(taskSet).flatMap(accounts.get)
    account.flatMap(a => pools.get(a.run)) match {
      case Some(pool) => taskSet.properties.setProperty(PoolProperty, pool.name)
      case None if named.isDefined && !foreign => taskSet.properties.remove(PoolProperty)
      case None =>
    }
    account.getOrElse {
      if (accounts.others.running == 0) othersStarted()
      accounts.others
    }
  }

  private def PoolProperty = "spark.scheduler.pool"

  override def resourceOffers(all: IndexedSeq[WorkerOffer], isAllFreeResources: Boolean): Seq[Seq[TaskDescription]] =
    synchronized {
      val offers = all.filterNot(o => draining(o.executorId))
      offering.begin(0)
      val launched = super.resourceOffers(offers, isAllFreeResources)
      lazy val rest = left(offers, launched.flatten)
      if (!offering.refused || rest.isEmpty) launched
      else {
        val now = System.nanoTime()
        val lent = accounts.lendable(now)
        val borrowed = if (lent == 0) Nil else {
          offering.begin(lent)
          super.resourceOffers(rest, isAllFreeResources)
        }
        accounts.untilLendable(now).foreach(reviveIn)
        launched ++ borrowed
      }
    }

  /** What of the offers is not used up; resources other than cores are counted in the offers themselves. */
  private def left(offers: IndexedSeq[WorkerOffer], launched: Seq[TaskDescription]): IndexedSeq[WorkerOffer] = {
    val used = launched.groupBy(_.executorId).map { case (executor, tasks) => executor -> tasks.map(_.cpus).sum }
    offers.map(o => o.copy(cores = o.cores - used.getOrElse(o.executorId, 0))).filter(_.cores >= CPUS_PER_TASK)
  }

  /** Offers again when cores will be free to lend: a local backend offers only when a task ends or comes. */
  private def reviveIn(nanos: Long): Unit = if (reviving.compareAndSet(false, true)) {
    val task: Runnable = () => {
      reviving.set(false)
      revive()
    }
    timer.schedule(task, nanos, TimeUnit.NANOSECONDS)
  }

  private def revive(): Unit =
    try backend.reviveOffers()
    catch { case NonFatal(e) => logDebug("no offers: the backend is stopping", e) }

  override def executorAdded(executor: String, host: String): Unit = {
    super.executorAdded(executor, host)
    coresChanged()
  }

  override def executorLost(executor: String, reason: ExecutorLossReason): Unit = {
    super.executorLost(executor, reason)
    coresChanged()
  }

  override def executorDecommission(executor: String, info: ExecutorDecommissionInfo): Unit = {
    super.executorDecommission(executor, info)
    coresChanged()
  }

  override def stop(exitCode: Int): Unit = {
    timer.shutdownNow()
    super.stop(exitCode)
  }
}
