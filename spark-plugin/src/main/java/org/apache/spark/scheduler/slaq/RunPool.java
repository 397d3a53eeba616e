package org.apache.spark.scheduler.slaq;

import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.SchedulingMode;

/**
 * The fair scheduler's pool of one run at a time, whose weight and minimum share are the run's planned cores.
 *
 * <p>In Java because both are values in Spark's pool, which Scala can't override by something that changes. They order
 * the runs and are what Spark's stages page shows; the limit itself is kept by {@link RunAccount}. Changed under the
 * scheduler's lock only: the fair order must not change while it is being sorted by.
 */
final class RunPool extends Pool {
  private volatile int share;

  RunPool(String name) {
    super(name, SchedulingMode.FIFO(), 0, 1);
  }

  void setShare(int cores) {
    share = cores;
  }

  @Override
  public int weight() {
    return Math.max(1, share);
  }

  @Override
  public int minShare() {
    return share;
  }
}
