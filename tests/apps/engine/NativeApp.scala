package org.apache.spark.slaq.engine

import java.net.{URL, URLClassLoader}
import java.util.concurrent.{Callable, CountDownLatch, Executors, TimeUnit}

import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkConf
import org.apache.spark.slaq.loss.Jvmti

/**
 * The boundary to the native library on a real JVM: `NativeApp SCENARIO`. Prints what happened, one line each, as
 * `name|outcome`; tests/test_native.py knows what each must be.
 */
object NativeApp {

  def main(args: Array[String]): Unit = args(0) match {
    case "load" => load()
    case "platform" => platform()
    case "roundtrip" => roundTrip()
    case "refusals" => refusals()
    case "close" => closeWhileInUse()
    case "log" => log(args.toList.tail)
    case "loaders" => twoLoaders()
    case "panics" => everyExportPanics()
  }

  private def say(name: String, outcome: Any): Unit = println(s"$name|${outcome.toString.replace('\n', ' ')}")

  /** What a call returns, or class and message of what it throws. */
  private def attempt(name: String)(call: => Any): Unit = Try(call) match {
    case Success(value) => say(name, value)
    case Failure(e) => say(name, s"${e.getClass.getSimpleName}: ${e.getMessage}")
  }

  private def opened(config: (String, String)*): Engine = Engine.open(config.toMap).fold(throw _, identity)

  private def spec(id: Long, name: String) = RunSpec(id, None, "KMeans", Some(name), maximise = false, hasLoss = true,
    maxIterations = Some(100), tolerance = Some(1e-4))

  private def load(): Unit = {
    val first = NativeLibrary.load()
    say("result", first.fold(e => s"${e.getClass.getSimpleName}: ${e.getMessage}", _ => "loaded"))
    say("same", first match {
      case Left(e) => NativeLibrary.load().fold(_ eq e, _ => false)
      case right => NativeLibrary.load() == right
    })
    say("engine", Engine.open(Map.empty).fold(e => e.getClass.getSimpleName, _ => "opened"))
    say("jvmti", Jvmti.open().fold(e => e.getClass.getSimpleName, _ => "opened"))
    // A session that is configured anew may succeed where the last one failed.
    val fresh = new SparkConf(false).set("spark.slaq.native.path", sys.props.getOrElse("retry", "/nowhere"))
    say("retry", NativeLibrary.load(fresh).fold(e => e.getMessage, _ => "loaded"))
  }

  private def platform(): Unit = {
    val musl = "7f00 r-xp 00000000 fe:00 1 /lib/ld-musl-x86_64.so.1"
    val glibc = "7f00 r-xp 00000000 fe:00 1 /usr/lib/x86_64-linux-gnu/libc.so.6"
    for ((name, arch, mapped) <- Seq(("Linux", "amd64", glibc), ("Linux", "amd64", musl), ("Linux", "aarch64", ""),
        ("Mac OS X", "arm64", ""), ("Linux", "x86_64", glibc), ("Linux", "sparc v9", ""), ("Windows 11", "amd64", ""))) {
      say(s"$name $arch", Platform.of(name, arch, mapped))
    }
    say("current", Platform.current)
  }

  private def roundTrip(): Unit = {
    val engine = opened("epoch" -> "1.0", "fairness" -> "0.1")
    engine.start(spec(1, "steep"), 0.0)
    engine.start(spec(2, "flat \"\u00fc\u2028\ud83d\ude00\""), 0.0)
    for (k <- 0 to 30) {
      val work = Seq(StageWork(64, 3.2, 0.06, 0.4))
      engine.report(1, k, 100.0 / (k + 1), 0.25 * (k + 1), work)
      engine.report(2, k, 5.0 + math.pow(0.3, k), 0.25 * (k + 1), work)
    }
    engine.observe(2, 8.0, Seq.empty)
    engine.plan(8, 0.0, 8.0).toSeq.sorted.foreach { case (run, cores) => say(s"plan $run", cores) }
    say("explain", engine.explain())
    engine.finish(1, 9.0)
    say("after finish", engine.plan(8, 0.0, 9.0))
    engine.close()
    engine.close()
    say("done", "closed twice")
  }

  private def refusals(): Unit = {
    val engine = opened()
    engine.start(spec(1, "a"), 0.0)
    for (loss <- Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, Double.MaxValue)) {
      attempt(s"loss $loss") { engine.report(1, 1, loss, 1.0, Seq(StageWork(1, Double.NaN, Double.PositiveInfinity, -1.0))) }
    }
    attempt("plan after odd losses")(engine.plan(4, 0.0, 2.0))
    attempt("odd times")(engine.plan(4, Double.NaN, Double.NaN))
    attempt("no cores")(engine.plan(0, 0.0, 2.0))
    attempt("negative cores")(engine.plan(-1, 0.0, 2.0))
    attempt("negative iteration")(engine.report(1, -2, 1.0, 1.0, Seq.empty))
    attempt("unknown run")(engine.report(99, 1, 1.0, 1.0, Seq.empty))
    attempt("unknown finish")(engine.finish(99, 1.0))
    attempt("started twice")(engine.start(spec(1, "a"), 0.0))
    attempt("weight")(engine.start(spec(2, "b").copy(weight = -1.0), 0.0))
    val native = new Native
    val handle = native.open("{}", "warn")
    native.start(handle, """{"id": 1, "algorithm": "KMeans"}""", 0.0)
    attempt("five numbers")(native.report(handle, 1, 1, 1.0, 1.0, new Array[Double](5)))
    attempt("null stages")(native.report(handle, 1, 1, 1.0, 1.0, null))
    attempt("null run")(native.start(handle, null, 1.0))
    attempt("bad run")(native.start(handle, "{\"id\": \"x\"}", 1.0))
    attempt("log level")(native.open("{}", "loud"))
    attempt("not json")(native.open("{", "warn"))
    attempt("unknown handle")(native.explain(handle + 1000))
    attempt("handle 0")(native.explain(0))
    for (bad <- Seq("epoch" -> "0", "fairness" -> "much", "floor" -> "1.5", "policy" -> "best", "colour" -> "red")) {
      attempt(s"config ${bad._1}")(opened(bad))
    }
    engine.close()
    attempt("report after close")(engine.report(1, 2, 1.0, 3.0, Seq.empty))
    attempt("plan after close")(engine.plan(4, 0.0, 3.0))
    attempt("start after close")(engine.start(spec(3, "c"), 3.0))
    attempt("explain after close")(engine.explain())
  }

  /** Opens an engine at each level in turn, with a file of typical curves that can't be read, which is a warning. */
  private def log(levels: Seq[String]): Unit = {
    NativeLibrary.load().fold(throw _, identity)
    for (level <- levels) {
      attempt(level)(new Native().open(s"""{"priors.path": "$level.json"}""", level) > 0)
    }
  }

  /** Many threads report while the engine is closed under them: each call works or says that the engine is closed. */
  private def closeWhileInUse(): Unit = {
    val threads = 4
    val pool = Executors.newFixedThreadPool(threads)
    var late = 0
    for (_ <- 1 to 50) {
      val engine = opened()
      val reporting = new CountDownLatch(threads)
      val calls = (1 to threads).map { run =>
        engine.start(spec(run.toLong, s"run $run"), 0.0)
        pool.submit(new Callable[String] {
          override def call(): String = {
            var k = 0
            try {
              while (true) {
                engine.report(run.toLong, k, 1.0 / (k + 1), k.toDouble, Seq.empty)
                k += 1
                if (k == 3) reporting.countDown()
              }
              "never"
            } catch { case e: IllegalStateException => e.getMessage }
          }
        })
      }
      reporting.await(60, TimeUnit.SECONDS)
      engine.close()
      late += calls.count(_.get(60, TimeUnit.SECONDS).endsWith("is closed"))
    }
    pool.shutdownNow()
    say("ended by close", late)
  }

  /** The same jar in two sibling class loaders, as two sessions of a notebook server have it. */
  private def twoLoaders(): Unit = {
    val jar = new URL(sys.props("slaq.jar"))
    val loaders = Seq.fill(2)(new URLClassLoader(Array(jar), getClass.getClassLoader))
    val versions = loaders.map { loader =>
      val library = loader.loadClass("org.apache.spark.slaq.engine.NativeLibrary$")
      val result = library.getMethod("load").invoke(library.getField("MODULE$").get(null))
      say("load", result)
      loader.loadClass("org.apache.spark.slaq.engine.NativeLibrary")
    }
    say("distinct", versions.distinct.size)
  }

  /** Every export panics once, first with a formatted text and then with a literal one, and works afterwards. */
  private def everyExportPanics(): Unit = {
    NativeLibrary.load().fold(throw _, identity)
    val native = new Native
    val panics = new Panics
    val handle = native.open("{}", "warn")
    val run = """{"id": 1, "algorithm": "KMeans"}"""
    val none = Array.empty[Double]
    val jvmti = Jvmti.open().fold(throw _, identity)
    val calls = Seq[(String, () => Any)](
      "version" -> (() => native.version()),
      "open" -> (() => native.open("{}", "warn") > 0),
      "start" -> (() => native.start(handle, run, 0.0)),
      "report" -> (() => native.report(handle, 1, 1, 1.0, 1.0, none)),
      "observe" -> (() => native.observe(handle, 1, 1.0, none)),
      "plan" -> (() => native.plan(handle, 4, 0.0, 1.0).toSeq),
      "explain" -> (() => native.explain(handle).nonEmpty),
      "outlook" -> (() => native.outlook(handle, 4, 1.0).nonEmpty),
      "finish" -> (() => native.finish(handle, 1, 1.0)),
      "addToSystemClassPath" -> (() => jvmti.addToSystemClassPath("/nowhere.jar")),
      "replaceOnLoad" -> (() => jvmti.replaceOnLoad("no/such/Class", Array[Byte](1), Array[Byte](2))),
      "loadedClasses" -> (() => jvmti.loadedClasses().length),
      "redefine" -> (() => jvmti.redefine(classOf[Panics], Array[Byte](1, 2, 3))),
      "errorName" -> (() => jvmti.errorName(62)),
      "close" -> (() => native.close(handle)))
    calls.foreach { case (name, call) =>
      panics.arm(true)
      attempt(s"$name formatted")(call())
      panics.arm(false)
      attempt(s"$name literal")(call())
      attempt(s"$name works")(call())
    }
    attempt("fault while pending")(panics.failAfterThrowing(false))
    attempt("panic while pending")(panics.failAfterThrowing(true))
    val exports = classOf[Native].getDeclaredMethods ++ classOf[Jvmti].getDeclaredMethods
    val natives = exports.filter(m => java.lang.reflect.Modifier.isNative(m.getModifiers)).map(_.getName).toSet
    say("not covered", (natives -- calls.map(_._1)).mkString(","))
  }
}

/** Bound only by a library that was built with the feature test-panics. */
final class Panics {

  /** The next call of this thread into the library panics. */
  @native def arm(formatted: Boolean): Unit

  /** Fails while an exception is pending that the library has thrown before. */
  @native def failAfterThrowing(byPanic: Boolean): Unit
}
