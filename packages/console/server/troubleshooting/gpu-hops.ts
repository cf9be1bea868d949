import type { AppGpuPod, PodsAnswer, TroubleshootingHop } from '@sonde/sdk/api'
import { countOf, messageOf, sondeCommand } from '@sonde/sdk/internal'
import type { GpuReaderState, ReaderStates } from '../apps/origin.ts'
import * as commands from './commands.ts'
import { type GpuOrigin, type HopFinding, sentence, walked } from './facts.ts'

/** Source that calls the driver itself. */
const BY_DRIVER = 'nvml'
const NAMED_COUNT = 3

/** What all hops of GPUs are judged by. */
export interface GpuFacts {
  readonly origin: GpuOrigin
  readonly reader: commands.Reader
  readonly pods: PodsAnswer
  readonly readers: ReaderStates
}

/** The hops of GPUs. */
export function gpuHops(facts: GpuFacts): Promise<TroubleshootingHop[]> {
  return Promise.all([driverHop(facts), pluginHop(facts), exporterHop(facts), scrapeHop(facts), labelHop(facts)])
}

/** The same hops where this server sees no GPUs itself. */
export function unseenGpuHops(reader: commands.Reader): TroubleshootingHop[] {
  const common = { state: 'unknown', finding: '', advice: '' } as const
  return [
    { name: 'Driver', ...common, commands: commands.driverCommands(reader) },
    { name: 'Device plugin', ...common, commands: commands.pluginCommands(reader) },
    { name: 'Exporter', ...common, commands: commands.exporterCommands(reader) },
    { name: 'Scrape', ...common, commands: commands.scrapeCommands(reader) },
    { name: 'Labels', ...common, commands: commands.labelCommands(reader) },
  ]
}

/** The driver, as a source that calls it reports it. */
async function driverHop({ origin, reader, readers = [] }: GpuFacts): Promise<TroubleshootingHop> {
  const own = readers.find(({ name }) => name === BY_DRIVER)
  const common = { name: 'Driver', commands: commands.driverCommands(reader) }
  if (own === undefined) {
    const finding = 'Nothing here calls the driver: it runs on the nodes of the exporters.'
    return { ...common, state: 'unknown', finding, advice: 'Look on the node whose numbers are missing.' }
  }
  if (own.state === 'reading') return { ...common, state: 'ok', finding: foundBy(own), advice: '', explain: BY_DRIVER }
  const isNeeded = !readers.some(({ name, state }) => name !== BY_DRIVER && state === 'reading')
  const found = await walked(origin.explain, BY_DRIVER)
  if (isNeeded || found.state !== 'broken') return { ...common, ...found, explain: BY_DRIVER }
  const finding = `This machine has no driver that answers. ${found.finding}`
  return {
    ...common,
    state: 'unknown',
    finding,
    advice: 'The exporters read other nodes: look there.',
    explain: BY_DRIVER,
  }
}

/** The device plugin: pods that ask for GPUs have some. */
function pluginHop({ reader, pods: { pods } }: GpuFacts): TroubleshootingHop {
  const common = { name: 'Device plugin', commands: commands.pluginCommands(reader) }
  const asking = pods.filter(({ requested }) => (requested ?? 0) > 0)
  const holding = pods.filter(({ gpus }) => gpus > 0)
  const unheld = asking.filter(({ gpus, isScheduled, isWarming }) => gpus === 0 && isScheduled !== false && !isWarming)
  if (unheld.length > 0) {
    const finding = `${countOf(unheld.length, 'pod')} of ${asking.length} that ask for GPUs have none that is known: ${named(unheld)}.`
    return { ...common, state: 'broken', finding, advice: 'See whether the plugin runs on the nodes of these pods.' }
  }
  if (holding.length > 0)
    return { ...common, state: 'ok', finding: `${countOf(holding.length, 'pod')} hold GPUs.`, advice: '' }
  const advice = 'A pod asks for a GPU by its limits: resources: {limits: {nvidia.com/gpu: 1}}.'
  return { ...common, state: 'unknown', finding: 'No pod is known to hold a GPU, or to ask for one.', advice }
}

/** The exporters that are configured, or that the Prometheus scrapes. */
async function exporterHop({ origin, reader, readers = [] }: GpuFacts): Promise<TroubleshootingHop> {
  const common = { name: 'Exporter', commands: commands.exporterCommands(reader) }
  const scrapers = await origin.scrapers()
  const [first] = scrapers
  if (first === undefined) {
    const own = readers.find(({ state }) => state === 'reading')
    if (own !== undefined) {
      const finding = `No exporter is configured here, and none is needed: source ${own.name} reads the GPUs.`
      return { ...common, state: 'off', finding, advice: '' }
    }
    const isWanted = reader.exporter !== 'none'
    const advice = isWanted ? 'Add dcgm_exporter with its address to data_sources.' : ''
    return { ...common, state: isWanted ? 'broken' : 'off', finding: 'No exporter is configured here.', advice }
  }
  const explain = origin.explain === undefined ? {} : { explain: first.name }
  const ill = scrapers.find(({ state }) => state === 'error')
  if (ill !== undefined) {
    const advice =
      reader.exporter === 'none'
        ? 'Remove the exporter from data_sources if there is none.'
        : 'See whether its pods run, and whether this address is theirs.'
    return { ...common, ...explain, state: 'broken', finding: `Source ${ill.name}: ${ill.detail}.`, advice }
  }
  const off = scrapers.find(({ state }) => state !== 'enabled')
  if (off !== undefined) {
    const isOff = off.state === 'disabled' || off.state === 'disabling'
    const finding = isOff ? 'The GPU scraper is switched off.' : 'The GPU scraper has just been switched on.'
    const advice = isOff ? 'Switch it on, on the page Settings.' : 'Look again in a moment.'
    return { ...common, ...explain, state: isOff ? 'off' : 'unknown', finding, advice }
  }
  const finding = scrapers.map(({ name, detail }) => `source ${name} reads ${detail}`).join('; ')
  const isPartial = scrapers.some(({ detail }) => / of \d+ exporters?;/.test(detail))
  const advice = isPartial ? 'See whether the pods of the exporters that do not answer run.' : ''
  return { ...common, ...explain, state: isPartial ? 'broken' : 'ok', finding: sentence(finding), advice }
}

/** The scrape: numbers arrive, and are fresh. */
async function scrapeHop({ origin, reader, pods: { pods } }: GpuFacts): Promise<TroubleshootingHop> {
  const common = { name: 'Scrape', commands: commands.scrapeCommands(reader) }
  if (origin.targets !== undefined) return { ...common, ...(await targetFinding(origin.targets)) }
  const explain = 'DCGM_FI_DEV_GPU_UTIL'
  const measured = pods.filter(({ values, deviceValues }) => hasNumber(values) || hasNumber(deviceValues))
  if (measured.length > 0) {
    const oldestS = Math.round(Math.max(0, ...measured.map(({ ageMs }) => ageMs ?? 0)) / 1000)
    const finding = `Numbers of ${countOf(measured.length, 'pod')} of ${pods.length} arrive; the oldest sample is ${oldestS} s old.`
    return { ...common, state: 'ok', finding, advice: '', explain }
  }
  return { ...common, ...(await walked(origin.explain, explain)), explain }
}

async function targetFinding(targets: NonNullable<GpuOrigin['targets']>): Promise<HopFinding> {
  try {
    const { up, down } = await targets()
    const all = up + down.length
    if (all === 0)
      return {
        state: 'broken',
        finding: 'The Prometheus scrapes no target with GPU series.',
        advice: `Add a ServiceMonitor, or the scrape job that this prints: ${sondeCommand()} manifests gpu-stack`,
      }
    if (down.length === 0) return { state: 'ok', finding: `${up} of ${countOf(all, 'target')} are up.`, advice: '' }
    const names = down.slice(0, NAMED_COUNT).join(', ')
    const finding = `${up} of ${countOf(all, 'target')} are up; down: ${names}.`
    return {
      state: 'broken',
      finding,
      advice: 'See the last error of the target on the page Targets of the Prometheus.',
    }
  } catch (error) {
    return {
      state: 'broken',
      finding: sentence(messageOf(error)),
      advice: 'Check prometheus_url, and that it answers.',
    }
  }
}

/** The labels that name the app of a pod. */
function labelHop({ reader, pods: { pods } }: GpuFacts): TroubleshootingHop {
  const nameless = pods.filter(({ app }) => app === '')
  const [first] = nameless
  const common = { name: 'Labels', commands: commands.labelCommands(reader, first) }
  if (pods.length === 0)
    return { ...common, state: 'unknown', finding: 'There is no GPU pod whose labels could be seen.', advice: '' }
  if (first === undefined)
    return { ...common, state: 'ok', finding: `Each of ${countOf(pods.length, 'GPU pod')} has an app.`, advice: '' }
  const advice =
    'Give them the label app or app.kubernetes.io/name, and let the exporter copy labels: --kubernetes-enable-pod-labels.'
  const finding = `${nameless.length} of ${countOf(pods.length, 'GPU pod')} have no app: ${named(nameless)}.`
  return { ...common, state: 'broken', finding, advice }
}

function foundBy({ name, reason }: GpuReaderState): string {
  return `Source ${name} reads ${reason === '' ? 'GPUs' : reason}.`
}

function hasNumber(values: object): boolean {
  return Object.values(values).some((value) => value !== null && value !== undefined)
}

function named(pods: readonly AppGpuPod[]): string {
  const names = pods.slice(0, NAMED_COUNT).map(({ namespace, name }) => `${namespace}/${name}`)
  const more = pods.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
