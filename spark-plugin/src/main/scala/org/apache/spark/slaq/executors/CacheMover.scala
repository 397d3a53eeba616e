package org.apache.spark.slaq.executors

import scala.collection.mutable
import scala.reflect.ClassTag
import scala.util.control.NonFatal

import org.apache.spark.{Partition, SparkContext, SparkEnv, TaskContext}
import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.slaq.LimitedTaskSetManager
import org.apache.spark.storage.{BlockId, BlockManagerId, RDDBlockId, StorageLevel}

/**
 * Moves cached blocks of RDDs to executors that have none: Spark leaves them where they are, so that a training with
 * cached data would run no faster on four times the executors.
 *
 * Moves and does not copy, since a second copy of a block has nowhere to go when its executor retires. A block is first
 * fetched by its new executor, in a small job, and dropped by the old one when it has arrived.
 *
 * @param rate bytes a second, all together
 */
private[slaq] final class CacheMover(sc: SparkContext, holdings: Holdings, rate: Long) extends Logging {
  import CacheMover._

  private var settled = Set.empty[String]
  private var failures = 0

  /** Looks for new executors, and moves if there are any. To be called again and again by one thread. */
  def step(): Unit = if (failures < MostFailures) {
    val open = holdings.open().toSet
    if (!open.subsetOf(settled)) {
      val moves = plan(open)
      if (moves.isEmpty) settled = if (registered(open)) open else settled
      else {
        try move(moves)
        catch {
          case NonFatal(e) if !sc.isStopped =>
            failures += 1
            logWarning(s"Cached blocks stay where they are${if (failures == MostFailures) ", from now on" else ""}: $e")
        }
      }
    } else settled = open
  }

  /** An executor is there before its block manager is. */
  private def registered(open: Set[String]): Boolean =
    open.subsetOf(sc.env.blockManager.master.getMemoryStatus.keySet.map(_.executorId).toSet)

  private def plan(open: Set[String]): Seq[Move] = {
    val places = sc.env.blockManager.master.getStorageStatus.toSeq.filter(s => open(s.blockManagerId.executorId))
      .map(s => Place(s.blockManagerId, s.rddBlocks.map { case (block, status) => block -> (status.memSize + status.diskSize) }.toMap))
    spread(places, sc.getPersistentRDDs.keySet.toSet)
  }

  /** In batches, so that the rate is kept and a failure loses little. */
  private def move(moves: Seq[Move]): Unit = {
    val started = System.nanoTime()
    var bytes = 0L
    var moved = 0
    batches(moves, rate).foreach { batch =>
      val arrived = fetch(batch)
      drop(arrived)
      moved += arrived.size
      bytes += batch.map(_.bytes).sum
      val due = bytes.toDouble / rate
      val ahead = due - (System.nanoTime() - started) * 1e-9
      if (ahead > 0) Thread.sleep((ahead * 1000).toLong)
    }
    // Data that its training no longer wants had nowhere to move: that is no failure.
    if (moved > 0) failures = 0 else if (moves.exists(m => sc.getPersistentRDDs.contains(m.block.rddId))) failures += 1
    logInfo(f"$moved of ${moves.size} cached blocks ($bytes bytes) moved to ${moves.map(_.to.executorId).distinct.size} new executors in ${(System.nanoTime() - started) * 1e-9}%.1f s")
  }

  private def fetch(batch: Seq[Move]): Seq[Move] = {
    val pieces = batch.groupBy(_.to).toSeq.flatMap { case (to, moves) =>
      val blocks = moves.flatMap(m => sc.getPersistentRDDs.get(m.block.rddId).map(r => Block(m.block, r.getStorageLevel, r.elementClassTag)))
      if (blocks.isEmpty) None else Some(Task(to.host, to.executorId, blocks.toArray, drop = false))
    }
    val done = run(pieces).toSet
    batch.filter(m => done((m.to.executorId, m.block)))
  }

  private def drop(arrived: Seq[Move]): Unit = {
    val tasks = arrived.groupBy(_.from).toSeq.map { case (from, moves) =>
      Task(from.host, from.executorId, moves.map(m => Block(m.block, StorageLevel.NONE, ClassTag.Any)).toArray, drop = true)
    }
    run(tasks)
  }

  /** Which blocks were fetched or dropped where. A task that was not run by its own executor has done nothing. */
  private def run(tasks: Seq[Task]): Seq[(String, RDDBlockId)] = if (tasks.isEmpty) Nil else {
    shipped
    sc.setLocalProperty(LimitedTaskSetManager.Pinned, "true")
    sc.setLocalProperty("spark.job.description", "SLAQ moves cached blocks to new executors")
    sc.runJob(new MoveRDD(sc, tasks.toArray), (done: Iterator[(String, RDDBlockId)]) => done.toArray).toSeq.flatten
  }

  /** Executors need our classes for this, and may have none. */
  private lazy val shipped: Unit = {
    val jar = new java.io.File(getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
    if (!sc.listJars().exists(_.endsWith("/" + jar.getName))) sc.addJar(jar.getPath)
  }
}

private[slaq] object CacheMover {
  private val MostFailures = 3

  /** An executor's cached blocks with their sizes in bytes. */
  final case class Place(id: BlockManagerId, blocks: Map[BlockId, Long])

  final case class Move(block: RDDBlockId, bytes: Long, from: BlockManagerId, to: BlockManagerId)

  /**
   * Blocks that executors without any should take over from the fullest, until each has its part of every RDD's: what
   * matters is that the tasks of one stage spread.
   */
  def spread(places: Seq[Place], rdds: Set[Int]): Seq[Move] = {
    val moves = mutable.ArrayBuffer.empty[Move]
    val (empty, full) = places.partition(_.blocks.isEmpty)
    if (empty.nonEmpty && full.nonEmpty) {
      val byRdd = full.flatMap(p => p.blocks.collect { case (block: RDDBlockId, bytes) if rdds(block.rddId) => (block, bytes, p.id) })
        .groupBy(_._1.rddId).toSeq.sortBy(_._1)
      byRdd.foreach { case (_, blocks) =>
        val single = blocks.groupBy(_._1).values.filter(_.size == 1).flatten.toSeq
        val part = math.ceil(single.size.toDouble / places.size).toInt
        val left = mutable.Map(single.groupBy(_._3).map { case (id, own) => id -> mutable.Queue(own.sortBy(_._1.splitIndex): _*) }.toSeq: _*)
        empty.sortBy(_.id.executorId).foreach { place =>
          var taken = 0
          def fullest = left.values.maxBy(_.size)
          while (taken < part && fullest.size > part) {
            val (block, bytes, from) = fullest.dequeue()
            moves += Move(block, bytes, from, place.id)
            taken += 1
          }
        }
      }
    }
    moves.toSeq
  }

  /** Cuts moves into batches of at most so many bytes, at least one block each. */
  def batches(moves: Seq[Move], bytes: Long): Seq[Seq[Move]] = {
    val result = mutable.ArrayBuffer.empty[mutable.ArrayBuffer[Move]]
    moves.foreach { move =>
      if (result.isEmpty || result.last.map(_.bytes).sum + move.bytes > bytes) result += mutable.ArrayBuffer.empty
      result.last += move
    }
    result.map(_.toSeq).toSeq
  }
}

private[slaq] final case class Block(id: RDDBlockId, level: StorageLevel, tag: ClassTag[_])

/** What one executor is to fetch, or to drop. */
private[slaq] final case class Task(host: String, executor: String, blocks: Array[Block], drop: Boolean)

private[slaq] final case class MovePartition(index: Int) extends Partition

/** One partition for each executor that has something to do. */
private[slaq] final class MoveRDD(sc: SparkContext, tasks: Array[Task]) extends RDD[(String, RDDBlockId)](sc, Nil) {
  override protected def getPartitions: Array[Partition] = tasks.indices.map(MovePartition(_): Partition).toArray

  override protected def getPreferredLocations(part: Partition): Seq[String] = {
    val task = tasks(part.index)
    Seq(s"executor_${task.host}_${task.executor}")
  }

  override def compute(part: Partition, context: TaskContext): Iterator[(String, RDDBlockId)] = {
    val task = tasks(part.index)
    val blocks = SparkEnv.get.blockManager
    def done(block: Block): Boolean =
      if (task.drop) {
        blocks.removeBlock(block.id, tellMaster = true)
        true
      } else {
        blocks.getRemoteBytes(block.id).exists(blocks.putBytes(block.id, _, block.level, tellMaster = true)(block.tag.asInstanceOf[ClassTag[Any]]))
      }
    if (SparkEnv.get.executorId != task.executor) Iterator.empty
    else task.blocks.iterator.filter(done).map(block => task.executor -> block.id)
  }
}
