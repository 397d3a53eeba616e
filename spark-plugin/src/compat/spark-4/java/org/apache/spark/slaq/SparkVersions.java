package org.apache.spark.slaq;

/** The versions of Spark that this jar schedules on. */
final class SparkVersions {
  private SparkVersions() {}

  /** Their first parts. */
  static final String[] SUPPORTED = {"4.0", "4.1", "4.2"};
}
