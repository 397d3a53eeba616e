package org.apache.spark.slaq;

import org.slf4j.LoggerFactory;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;

/**
 * For {@code spark.extraListeners}, where {@code spark.plugins} can't be used (a local Spark Connect session overwrites
 * it). Spark makes listeners after its scheduler, so runs are seen and recorded but not scheduled.
 *
 * <p>Java for the reason of {@link SlaqPlugin}.
 */
public final class SlaqListener extends SparkListener {
  private Attachment attachment;

  @Override
  public void onApplicationStart(SparkListenerApplicationStart event) {
    String reason = Support.missing();
    if (reason != null) {
      LoggerFactory.getLogger(SlaqListener.class).warn("SLAQ {}: it does not record this application", reason);
    } else {
      attachment = new Attachment();
      attachment.start();
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    if (attachment != null) attachment.close();
  }
}
