package org.apache.spark.slaq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * What {@code spark.plugins} names. All of it runs in the driver; executors need neither this class nor the jar.
 *
 * <p>Java, like {@link Support}: a class from scalac for another Scala line may not even load, and the first thing that
 * this plugin does is to say that it was built for another Spark.
 */
public final class SlaqPlugin implements SparkPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(SlaqPlugin.class);
  private static final String KEY = "spark.plugins";

  @Override
  public DriverPlugin driverPlugin() {
    String reason = Support.missing();
    if (reason == null) return new SlaqDriverPlugin();
    LOG.warn("SLAQ {}: Spark schedules as usual", reason);
    return new DriverPlugin() {
      @Override
      public Map<String, String> init(SparkContext sc, PluginContext context) {
        leaveExecutors(sc.conf());
        return Collections.emptyMap();
      }
    };
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return null;
  }

  /** Executors load what {@code spark.plugins} names, and die if they lack the jar. */
  static void leaveExecutors(SparkConf conf) {
    List<String> others = new ArrayList<>();
    for (String name : conf.get(KEY, "").split(",")) {
      if (!name.trim().isEmpty() && !name.trim().equals(SlaqPlugin.class.getName())) others.add(name.trim());
    }
    if (others.isEmpty()) conf.remove(KEY);
    else conf.set(KEY, String.join(",", others));
  }
}
