// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.xbean.asm9.Type

/** Where in a method a probe goes. All are straight-line insertions: no branch, so no frame of the method changes. */
private[loss] sealed trait Place
private[loss] object Place {
  /** Its begin. */
  case object Entry extends Place
  /** Each normal return; the value returned comes first, where there is one and it is an object. */
  case object Return extends Place
  /** Each way out; what was thrown comes first, null on a normal return. */
  case object Leave extends Place
  /** Before calls of a method: the last argument of the call comes first. */
  final case class Before(method: String) extends Place
  /** After calls of a method: its result comes first. */
  final case class After(method: String) extends Place
  /** Before a value is stored in a captured `var x: Double` of Scala: the value comes first. */
  case object DoubleStore extends Place
}

/**
 * One probe in one method.
 *
 * @param owner     class, internal name
 * @param method    its name, with `*` at the end for all names that begin so; where it is overloaded followed by the
 *                  number of parameters (`run/2`) or the parameters' descriptor (`run(I)`)
 * @param place     where in the method
 * @param probe     name that the listener gets
 * @param family    what is lost if this hook does not fit; all hooks of a family are woven or none is listened to
 * @param arguments which of the method's arguments are passed on (-1: `this`), after the place's own value
 * @param sites     how often the place must occur in the method, elsewise the class is not the one we know. Entry,
 *                  Return and Leave occur once in that sense: in one method
 * @param only      pass the probe at this occurrence alone, counted from 0; -1: at all
 */
private[loss] final case class Hook(
    owner: String,
    method: String,
    place: Place,
    probe: String,
    family: String,
    arguments: Seq[Int] = Nil,
    sites: Int = 1,
    only: Int = -1) {

  /** Whether this hook goes into a method. */
  def in(name: String, descriptor: String): Boolean = method.indexOf('(') match {
    case -1 => method.split('/') match {
      case Array(wanted, arity) => name == wanted && Type.getArgumentTypes(descriptor).length == arity.toInt
      case Array(wanted) => if (wanted.endsWith("*")) name.startsWith(wanted.init) else name == wanted
    }
    case at => name == method.take(at) && descriptor.startsWith(method.drop(at))
  }

  override def toString: String = s"$place of ${owner.split('/').last}.$method"
}

private[loss] object Hook {
  import Place._

  private val This = -1
  private val Ml = "org/apache/spark/ml/"
  private val Mllib = "org/apache/spark/mllib/"
  private val Breeze = "breeze/optimize/"

  /** The frame that every training estimator of `spark.ml` works in. All algorithms of that API stand on it. */
  val Framing = "fit"

  /** Every probe, in the order of the families. The same on Spark 3.5 to 4.2: the classes changed, these spots did not. */
  val all: Seq[Hook] = Seq(
    Hook(Ml + "util/Instrumentation", "<init>/0", Return, "fit.begin", Framing, Seq(This)),
    Hook(Ml + "util/Instrumentation", "logPipelineStage", Entry, "fit.estimator", Framing, Seq(This, 0)),
    Hook(Ml + "util/Instrumentation", "withFitEvent", Entry, "fit.estimator", Framing, Seq(This, 0)),
    Hook(Ml + "util/Instrumentation$", "instrumented", Leave, "fit.end", Framing),

    Hook(Breeze + "FirstOrderMinimizer", "iterations", Entry, "breeze.begin", "breeze", Seq(0)),
    Hook(Breeze + "FirstOrderMinimizer$State", "<init>", Return, "breeze.state", "breeze", Seq(This)),

    Hook(Mllib + "optimization/LBFGS$", "runLBFGS", Entry, "lbfgs.begin", "lbfgs", Seq(7, 5, 4)),
    Hook(Mllib + "optimization/LBFGS$", "runLBFGS", Leave, "library.end", "lbfgs", Seq(7)),

    Hook(Mllib + "optimization/GradientDescent$", "runMiniBatchSGD/9", Entry, "sgd.begin", "sgd", Seq(7, 4, 8)),
    Hook(Mllib + "optimization/GradientDescent$", "runMiniBatchSGD/9", Before("$plus$eq"), "sgd.loss", "sgd"),
    Hook(Mllib + "optimization/GradientDescent$", "runMiniBatchSGD/9", Leave, "library.end", "sgd", Seq(7)),

    Hook(Mllib + "regression/GeneralizedLinearAlgorithm", "run/2", Entry, "linear.begin", "linear", Seq(This)),
    Hook(Mllib + "regression/GeneralizedLinearAlgorithm", "run/2", Leave, "library.end", "linear", Seq(This)),

    Hook(Mllib + "clustering/KMeans", "runAlgorithmWithWeight", Entry, "cluster.begin", "kmeans", Seq(This)),
    Hook(Mllib + "clustering/KMeans", "runAlgorithmWithWeight", DoubleStore, "kmeans.cost", "kmeans"),
    Hook(Mllib + "clustering/KMeans", "runAlgorithmWithWeight", Leave, "library.end", "kmeans", Seq(This)),
    Hook(Ml + "clustering/KMeans", "trainWithBlock", DoubleStore, "kmeans.cost", "kmeans-block"),

    Hook(Ml + "util/Instrumentation", "logNamedValue(Ljava/lang/String;D)", Entry, "mixture.named", "mixture", Seq(0, 1)),
    Hook(Mllib + "clustering/GaussianMixture", "run(Lorg/apache/spark/rdd/RDD;)", Entry, "cluster.begin", "mixture", Seq(This)),
    Hook(Mllib + "clustering/GaussianMixture", "run(Lorg/apache/spark/rdd/RDD;)", After("logLikelihood"), "mixture.likelihood", "mixture"),
    Hook(Mllib + "clustering/GaussianMixture", "run(Lorg/apache/spark/rdd/RDD;)", Leave, "library.end", "mixture", Seq(This)),

    Hook(Mllib + "clustering/BisectingKMeans", "runWithWeight", Entry, "cluster.begin", "bisecting", Seq(This)),
    Hook(Mllib + "clustering/BisectingKMeans", "runWithWeight", Leave, "library.end", "bisecting", Seq(This)),
    Hook(Mllib + "clustering/BisectingKMeans$", "org$apache$spark$mllib$clustering$BisectingKMeans$$summarize", Return,
      "bisecting.summary", "bisecting"),

    Hook(Mllib + "clustering/LDA", "run(Lorg/apache/spark/rdd/RDD;)", Entry, "cluster.begin", "lda", Seq(This)),
    Hook(Mllib + "clustering/LDA", "run(Lorg/apache/spark/rdd/RDD;)", Leave, "library.end", "lda", Seq(This)),
    Hook(Mllib + "clustering/EMLDAOptimizer", "next", Return, "lda.em", "lda"),
    Hook(Mllib + "clustering/OnlineLDAOptimizer", "updateLambda", Entry, "lda.before", "lda", Seq(This)),
    Hook(Mllib + "clustering/OnlineLDAOptimizer", "updateLambda", Return, "lda.after", "lda", Seq(This)),

    Hook(Mllib + "clustering/PowerIterationClustering", "run(Lorg/apache/spark/rdd/RDD;)", Entry, "cluster.begin", "power", Seq(This)),
    Hook(Mllib + "clustering/PowerIterationClustering", "run(Lorg/apache/spark/rdd/RDD;)", Leave, "library.end", "power", Seq(This)),
    Hook(Mllib + "clustering/PowerIterationClustering$", "$anonfun$powerIter$*", DoubleStore, "power.delta", "power", sites = 2, only = 1),

    Hook(Ml + "optim/IterativelyReweightedLeastSquares", "fit", Entry, "irls.begin", "irls", Seq(This)),
    Hook(Ml + "optim/IterativelyReweightedLeastSquares", "fit", After("fit"), "irls.model", "irls"),

    Hook(Ml + "tree/impl/GradientBoostedTrees$", "boost", Entry, "boosting.begin", "boosting", Seq(2, 3)),
    Hook(Ml + "tree/impl/GradientBoostedTrees$", "boost", After("runBagged"), "boosting.tree", "boosting", sites = 2),
    Hook(Ml + "tree/impl/GradientBoostedTrees$", "boost", After("computeWeightedError"), "boosting.validation", "boosting", sites = 2),
    Hook(Ml + "tree/impl/GradientBoostedTrees$", "boost", Leave, "library.end", "boosting", Seq(2)),

    Hook(Ml + "tree/impl/RandomForest$", "run/8", Entry, "forest.begin", "forest", Seq(0, 1, 2)),
    Hook(Ml + "tree/impl/RandomForest$", "run/8", Leave, "library.end", "forest", Seq(0)),

    Hook(Ml + "recommendation/ALS$", "train", Entry, "als.begin", "als", Seq(0, 4)),
    Hook(Ml + "recommendation/ALS$", "train", Leave, "library.end", "als", Seq(0)),

    Hook(Mllib + "feature/Word2Vec", "doFit", Entry, "word2vec.begin", "word2vec", Seq(This)),
    Hook(Mllib + "recommendation/ALS", "run(Lorg/apache/spark/rdd/RDD;)", Entry, "als.run", "als-rdd", Seq(This)),
    Hook(Mllib + "recommendation/ALS", "run(Lorg/apache/spark/rdd/RDD;)", Leave, "library.end", "als-rdd", Seq(This)),

    Hook(Mllib + "feature/Word2Vec", "doFit", Leave, "library.end", "word2vec", Seq(This)))

  /** The classes to weave. */
  val owners: Seq[String] = all.map(_.owner).distinct
}
