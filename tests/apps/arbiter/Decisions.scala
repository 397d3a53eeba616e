package org.apache.spark.slaq.executors

import scala.collection.mutable

import org.apache.spark.{ExecutorAllocationClient, SparkConf}
import org.apache.spark.slaq.executors.CacheMover.{Move, Place}
import org.apache.spark.storage.{BlockId, BlockManagerId, RDDBlockId}

/** Checks what is decided about executors and blocks, without a cluster; prints `ok` for each group. */
object Decisions {
  private def same[T](actual: T, expected: T): Unit = assert(actual == expected, s"$actual is not $expected")

  def main(args: Array[String]): Unit = {
    victims()
    moves()
    requests()
    defaults()
  }

  private def victims(): Unit = {
    val executors = Seq(Executor("1", 4, busy = true), Executor("2", 0, busy = true), Executor("3", 0, busy = false), Executor("10", 0, busy = false))
    def ids(surplus: Int, draining: Set[String] = Set.empty) = Reconciler.victims(executors, surplus, draining).map(_.id)
    same(ids(1), Seq("10"))
    same(ids(3), Seq("10", "3", "2"))
    // One stays, whatever is asked.
    same(ids(9), Seq("10", "3", "2"))
    same(ids(0), Nil)
    same(ids(-3), Nil)
    // Who waits for its last task goes on waiting, whatever it has cached.
    same(ids(2, Set("1")), Seq("1", "10"))
    println("ok victims")
  }

  private def moves(): Unit = {
    val ids = (0 to 3).map(i => BlockManagerId(i.toString, "host", 1000 + i))
    def blocks(rdd: Int, parts: Range) = parts.map(p => (RDDBlockId(rdd, p): BlockId) -> 10L).toMap
    val one = Place(ids(0), blocks(7, 0 until 8) ++ blocks(8, 0 until 4))
    val empty = (1 to 3).map(i => Place(ids(i), Map.empty[BlockId, Long]))
    val moves = CacheMover.spread(one +: empty, Set(7, 8))
    same(moves.groupBy(m => (m.to.executorId, m.block.rddId)).map { case (key, own) => key -> own.size },
      (for (to <- Seq("1", "2", "3"); (rdd, n) <- Seq(7 -> 2, 8 -> 1)) yield (to, rdd) -> n).toMap)
    same(moves.map(_.block).distinct.size, moves.size)
    assert(moves.forall(_.from == ids(0)))
    // Not what is no longer cached, nor what has a second copy, nor where nobody is empty or nobody is full.
    same(CacheMover.spread(one +: empty, Set.empty), Nil)
    same(CacheMover.spread(Seq(one, one.copy(id = ids(1)), empty(1)), Set(7, 8)), Nil)
    same(CacheMover.spread(Seq(one, Place(ids(1), blocks(9, 0 until 1))), Set(7, 8, 9)), Nil)
    same(CacheMover.spread(empty, Set(7)), Nil)
    same(CacheMover.batches(moves, 35).map(_.size), Seq(3, 3, 3))
    same(CacheMover.batches(moves.take(2), 1).map(_.size), Seq(1, 1))
    println("ok moves")
  }

  private def requests(): Unit = {
    val backend = new Recording
    val shim = new SchedulerBackendShim(backend)
    def ask(n: Int, profile: Int = 0) = shim.requestTotalExecutors(Map(profile -> n), Map.empty, Map.empty)
    ask(3)
    same(backend.totals, Seq(Map(0 -> 3)))
    shim.steer(Steering.Exactly(5))
    ask(1)
    same(backend.totals.last, Map(0 -> 5))
    same(shim.most, Some(5))
    // Spark's number of a moment ago counts, since it sags whenever a stage ends.
    same(shim.wanted, 3)
    // What Spark finds idle is not asked for again before the target changes.
    shim.killExecutors(Seq("4"), false, false, false)
    same(shim.most, Some(4))
    shim.steer(Steering.Exactly(6))
    same(backend.totals.last, Map(0 -> 6))
    shim.steer(Steering.AtMost(4))
    same(backend.totals.last, Map(0 -> 1))
    ask(9)
    same(backend.totals.last, Map(0 -> 4))
    val sent = backend.totals.size
    ask(9)
    same(backend.totals.size, sent)
    shim.steer(Steering.Free)
    same(backend.totals.last, Map(0 -> 9))
    same(shim.most, None)
    // Several resource profiles: hands off, whatever the target.
    shim.steer(Steering.Exactly(2))
    shim.requestTotalExecutors(Map(0 -> 3, 1 -> 4), Map.empty, Map.empty)
    same(backend.totals.last, Map(0 -> 3, 1 -> 4))
    same(shim.most, None)
    println("ok requests")
  }

  private def defaults(): Unit = {
    def of(settings: (String, String)*): SparkConf = {
      val conf = new SparkConf(false).setAll(settings)
      ExecutorDefaults.set(conf)
      conf
    }
    val tracking = "spark.dynamicAllocation.shuffleTracking.enabled"
    same(of().getOption(tracking), Some("false"))
    // Spark refuses to start without any reason to believe that shuffle output survives.
    same(of("spark.decommission.enabled" -> "false").getOption(tracking), None)
    same(of("spark.storage.decommission.shuffleBlocks.enabled" -> "false").getOption(tracking), None)
    same(of(tracking -> "true", "spark.executor.cores" -> "4").get("spark.executor.cores"), "4")
    val early = of("spark.executor.instances" -> "7", "spark.dynamicAllocation.initialExecutors" -> "7")
    same((early.getOption("spark.executor.instances"), early.getOption("spark.dynamicAllocation.initialExecutors")), (None, None))
    // Whoever forbids dynamic allocation keeps everything.
    same(of("spark.dynamicAllocation.enabled" -> "false", "spark.executor.instances" -> "7").getAll.length, 2)
    println("ok defaults")
  }

  private final class Recording extends ExecutorAllocationClient {
    val totals: mutable.ArrayBuffer[Map[Int, Int]] = mutable.ArrayBuffer.empty

    override def requestTotalExecutors(totals: Map[Int, Int], tasks: Map[Int, Int], hosts: Map[Int, Map[String, Int]]): Boolean = {
      this.totals += totals
      true
    }
    override def getExecutorIds(): Seq[String] = Nil
    override def isExecutorActive(id: String): Boolean = true
    override def requestExecutors(more: Int): Boolean = true
    override def killExecutors(ids: Seq[String], adjust: Boolean, count: Boolean, force: Boolean): Seq[String] = ids
    override def decommissionExecutorsOnHost(host: String): Boolean = true
    override def killExecutorsOnHost(host: String): Boolean = true
  }
}
