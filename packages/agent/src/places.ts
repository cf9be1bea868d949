// The modules that child processes and threads load. The build puts most others together; this one stays where it finds
// them.

/** Language of the modules: as they are written, or as they are published. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

/** Places of the description of the HTTP API: beside the published program, or among the pages of a checkout. */
export const OPENAPI_FILES: readonly URL[] = ['./openapi.json', '../../../docs/openapi.json'].map(
  (place) => new URL(place, import.meta.url),
)

/** Program of a child process or thread. */
export const HOST_MODULE: URL = new URL(`./hosting/host-main${EXTENSION}`, import.meta.url)

/** Has the definitions of all sources. */
export const SOURCES_MODULE: string = new URL(`./sources/registry${EXTENSION}`, import.meta.url).href

/** The file with the sources of the DOCA libraries. */
export const DOCA_MODULE: string = new URL(`./sources/doca/sources${EXTENSION}`, import.meta.url).href

/** The file with the NVML source. */
export const NVML_MODULE: string = new URL(`./sources/nvml/nvml${EXTENSION}`, import.meta.url).href

/** The file with the kubernetes source. */
export const KUBERNETES_MODULE: string = new URL(`./sources/kubernetes/kubernetes${EXTENSION}`, import.meta.url).href

/** The file with the sources that ask network drivers. */
export const ETHTOOL_MODULE: string = new URL(`./sources/ethtool/sources${EXTENSION}`, import.meta.url).href

/** Program of the child process that asks the kernel about its clock. */
export const CLOCK_MODULE: URL = new URL(`./sources/host/clock-main${EXTENSION}`, import.meta.url)

/** What reads a file of rules in a worker. */
export const RULES_MODULE: URL = new URL(`./traceback/book/read-main${EXTENSION}`, import.meta.url)

/** Program of the child process in which a self-test loads the library of a vendor. */
export const SELF_TEST_MODULE: URL = new URL(`./self-test/main${EXTENSION}`, import.meta.url)

/** Program of the thread that simulates the past of a node. */
export const PAST_MODULE: URL = new URL(`./simulated-past/past-main${EXTENSION}`, import.meta.url)
