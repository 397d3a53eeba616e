package org.apache.spark.slaq.engine

/**
 * What the engine needs to know of a run before it plans for it.
 *
 * @param id unique among the runs of this application
 * @param parent the run that started this one, such as a cross validation
 * @param algorithm name of the estimator; runs of one algorithm teach the engine what the next will look like
 * @param name what explanations call the run
 * @param maximise the reported number rises as the model gets better (a log-likelihood)
 * @param hasLoss false when the algorithm reports no loss (ALS, Word2Vec, forests): the run keeps its fair share
 * @param maxIterations iterations after which the algorithm stops in any case
 * @param tolerance convergence tolerance of the algorithm
 * @param weight importance of the run, above 0
 * @param ceiling most cores that the run may get
 */
final case class RunSpec(
    id: Long,
    parent: Option[Long],
    algorithm: String,
    name: Option[String],
    maximise: Boolean,
    hasLoss: Boolean,
    maxIterations: Option[Int],
    tolerance: Option[Double],
    weight: Double = 1.0,
    ceiling: Option[Int] = None) {

  /** The description as the engine reads it; what is not known is left out. */
  private[engine] def toJson: String = Json.of(
    Seq("id" -> id, "algorithm" -> algorithm, "maximise" -> maximise, "hasLoss" -> hasLoss, "weight" -> weight) ++
      parent.map("parent" -> _) ++ name.map("name" -> _) ++ maxIterations.map("maxIterations" -> _) ++
      tolerance.map("tolerance" -> _) ++ ceiling.map("ceiling" -> _))
}
