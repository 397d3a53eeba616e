// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss;

import java.util.function.BiConsumer;

/**
 * What woven Spark classes call. The only class of ours that Spark's own class loader must see, so it uses nothing but
 * {@code java.*}: the values go through unchanged to a listener that lives in the plugin's class loader.
 *
 * <p>A probe never harms the training that passes it: without a listener it costs one volatile read, and whatever the
 * listener throws ends here. The listener does its own error reporting.
 */
public final class Probes {
  private static volatile BiConsumer<String, Object[]> listener;
  private static volatile String[] woven;

  private Probes() {}

  /** Replaces the listener; null ends all listening. */
  public static void listen(BiConsumer<String, Object[]> next) {
    listener = next;
  }

  /** Names of the classes that call these probes in this JVM, null before weaving. Weaving is done once per JVM. */
  public static String[] woven() {
    return woven == null ? null : woven.clone();
  }

  /** Notes that weaving has been done. */
  public static void setWoven(String[] classes) {
    woven = classes.clone();
  }

  // The probe's name comes last so that woven code can push the values first, straight from the operand stack.

  public static void hit(String probe) {
    tell(probe);
  }

  public static void hit(Object a, String probe) {
    tell(probe, a);
  }

  public static void hit(Object a, Object b, String probe) {
    tell(probe, a, b);
  }

  public static void hit(Object a, Object b, Object c, String probe) {
    tell(probe, a, b, c);
  }

  private static void tell(String probe, Object... values) {
    BiConsumer<String, Object[]> to = listener;
    if (to == null) return;
    try {
      to.accept(probe, values);
    } catch (Throwable harmless) {
      // Nothing may reach the training.
    }
  }
}
