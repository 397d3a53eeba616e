// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import java.util.concurrent.{Callable, ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.ml.classification.LogisticRegression
import org.apache.spark.ml.clustering.KMeans
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.slaq.loss.{LossTap, Run}
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.ThreadUtils
import workload.Lapack

/**
 * Trains with everything that MLlib has, several fits at a time, and prints what the loss tap told of it:
 *
 *   RUN {json}       a run: what is known of it, its losses, its outcome, its Spark jobs
 *   EXPECT {json}    losses of a run as Spark itself reports them, with how close they are to be
 *   MODEL {json}     what came out of a training
 *   PROPERTY value   the run's local property on each user thread when all is done
 *
 * Arguments: `all` or names of [[Workloads]] with commas; `restart`: two contexts in one JVM; `stop`: the context is
 * stopped in the middle of a fit; `early`: classes to weave are loaded before the context.
 */
object LossApp {
  def main(args: Array[String]): Unit = args.headOption.getOrElse("all") match {
    case "restart" => for (_ <- 1 to 2) session(_.fits(Set("logistic", "kmeans"), 2))
    case "stop" => stopInTheMiddle()
    case "early" =>
      new KMeans().getK // loads classes before there is a context, and so before anything of ours
      session(_.fits(Set("kmeans", "old-kmeans"), 1))
    case names => session(_.fits(names.split(',').toSet, 4))
  }

  private def session(work: Session => Unit): Unit = {
    Lapack.warmUp()
    val spark = SparkSession.builder().config(new SparkConf()).getOrCreate()
    val session = new Session(spark)
    try work(session) finally {
      session.print()
      spark.stop()
    }
  }

  private final class Session(spark: SparkSession) {
    private val sc = spark.sparkContext
    val recorder = new Recorder
    private val jobs = new ConcurrentHashMap[String, Integer]
    LossTap.current.foreach(_.listen(recorder))
    sc.addSparkListener(new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit =
        Option(job.properties.getProperty(LossTap.RunProperty)).foreach(jobs.merge(_, 1, (a, b) => a + b))
    })

    def fits(names: Set[String], threads: Int): Unit = {
      val all = new Workloads(spark).all.filter { case (name, _) => names("all") || names(name) }
      val pool = ThreadUtils.newDaemonFixedThreadPool(threads, "fits")
      val done = all.map { case (name, fit) => name -> pool.submit(new Callable[Seq[(String, Any)]] {
        override def call(): Seq[(String, Any)] = {
          sc.setLocalProperty(LossTap.NameProperty, name)
          try fit() catch { case NonFatal(e) => Seq("failed" -> e.toString) }
          finally println(s"PROPERTY ${sc.getLocalProperty(LossTap.RunProperty)}")
        }
      }) }
      done.foreach { case (name, result) => result.get.foreach {
        case ("expect", (kind, values)) => println("EXPECT " + Json(Map("name" -> name, "kind" -> kind, "values" -> values)))
        case (what, value) => println("MODEL " + Json(Map("name" -> name, "what" -> what, "value" -> value)))
      } }
      pool.shutdown()
    }

    def print(): Unit = {
      sc.listenerBus.waitUntilEmpty()
      recorder.all.foreach { r =>
        println("RUN " + Json(Map("id" -> r.run.id, "parent" -> r.run.parent.map(_.id), "algorithm" -> r.run.algorithm,
          "uid" -> r.run.uid, "name" -> r.run.name, "meta" -> r.run.meta, "hasLoss" -> r.run.hasLoss,
          "maximise" -> r.run.maximise, "maxIterations" -> r.run.maxIterations, "tolerance" -> r.run.tolerance,
          "scale" -> r.run.scale, "tier" -> r.run.tier, "open" -> r.run.open, "losses" -> r.losses,
          "iterations" -> r.iterations, "progress" -> r.progress.map { case (done, total) => Seq(done, total) },
          "outcomes" -> r.outcomes, "jobs" -> Option(jobs.get(r.run.id.toString)).fold(0)(_.toInt))))
      }
    }
  }

  /** A fit that would go on for long, and a context that stops after its third loss. */
  private def stopInTheMiddle(): Unit = session { session =>
    val spark = SparkSession.active
    val rows = new Workloads(spark).labelled
    val third = new CountDownLatch(3)
    LossTap.current.get.listen(new Recorder {
      override def started(run: Run): Unit = ()
      override def finished(run: Run, outcome: String): Unit = ()
      override def loss(run: Run, iteration: Int, value: Double): Unit = third.countDown()
    })
    val fit = new Thread(() => {
      try new LogisticRegression().setMaxIter(100000).setTol(0).fit(rows)
      catch { case NonFatal(e) => println("STOPPED " + e.getClass.getName) }
    })
    fit.start()
    require(third.await(60, TimeUnit.SECONDS), "the fit does not iterate")
    SparkContext.getOrCreate().stop()
    fit.join(60000)
    require(!fit.isAlive, "the fit goes on without its context")
  }
}
