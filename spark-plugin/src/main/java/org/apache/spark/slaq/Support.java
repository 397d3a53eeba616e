package org.apache.spark.slaq;

import java.lang.reflect.Method;
import java.util.Arrays;

import org.apache.spark.SparkBuildInfo;
import org.apache.spark.scheduler.TaskSetManager;
import org.apache.spark.scheduler.slaq.LimitedTaskSetManager;
import org.apache.spark.scheduler.slaq.SlaqClusterManager;

/** Whether this jar can schedule on the Spark that runs it. Touches no class from scalac before the version is known. */
final class Support {
  private Support() {}

  /** Why not, or null if it can. */
  static String missing() {
    String version = version();
    String supports = "supports Spark " + String.join(", ", SparkVersions.SUPPORTED) + " with this jar";
    try {
      if (!named(version) || !offersAreOurs()) {
        return supports + ", not " + version;
      }
      if (!SlaqClusterManager.isFound()) {
        return "is not visible to Spark's class loader; name its jar in spark.jars or spark.driver.extraClassPath";
      }
      return null;
    } catch (LinkageError e) {
      return supports + ", and this " + version + " lacks " + e.getMessage();
    }
  }

  private static String version() {
    try {
      return SparkBuildInfo.spark_version();
    } catch (LinkageError e) {
      return "one without build information";
    }
  }

  private static boolean named(String version) {
    return Arrays.stream(SparkVersions.SUPPORTED).anyMatch(line -> version.equals(line) || version.startsWith(line + "."));
  }

  /**
   * Whether a limited task set still overrides the method by which Spark offers it a core. A version that changes the
   * method's parameters would call its own instead, and the limits would silently be none.
   */
  private static boolean offersAreOurs() {
    Method[] theirs = offers(TaskSetManager.class);
    Method[] ours = offers(LimitedTaskSetManager.class);
    return theirs.length > 0 && Arrays.stream(theirs).allMatch(t ->
        Arrays.stream(ours).anyMatch(o -> Arrays.equals(o.getParameterTypes(), t.getParameterTypes())));
  }

  private static Method[] offers(Class<?> of) {
    return Arrays.stream(of.getDeclaredMethods()).filter(m -> m.getName().equals("resourceOffer")).toArray(Method[]::new);
  }
}
