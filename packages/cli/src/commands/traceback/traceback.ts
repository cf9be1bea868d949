import {
  csvRows,
  type FeedInfo,
  feedOpener,
  jsonRows,
  type OpenFeed,
  readCompatBook,
  runCompatible,
  runTraceback,
  type TracebackTotals,
} from '@sonde/agent'
import { SOURCES } from '@sonde/agent/config'
import { SondeError } from '@sonde/sdk'
import { countOf, messageOf, printable } from '@sonde/sdk/internal'
import { ConfigError } from '../../config/config-error.ts'
import { loadConfig } from '../../config/load.ts'
import { refuseForeignLibraries } from '../../config/trust.ts'
import { VERSION } from '../../version.ts'
import { mergedFlags, type TracebackFlags } from './flags.ts'
import { type TracebackSettings, tracebackSettings } from './options.ts'
import { ExitError, readRulesBytes, readRulesFile } from './rules-file.ts'
import { StopSignals } from './stop-signals.ts'

/** The sampler of a device. */
const DOCA = SOURCES.filter(({ name }) => name === 'doca_telemetry_diag')
const LEVEL = { error: 30, warning: 40, info: 50 } as const
/** Exit codes; see `docs/traceback.md`. */
const EXIT = { ok: 0, failed: 1, usage: 2, denied: 3 } as const

/** `sonde traceback`: watches the counters of one device by rules, and writes an events log. Returns the exit code. */
export async function runTracebackCommand(given: Readonly<Record<string, unknown>>): Promise<number> {
  let isCompat = given.compat === true
  let level: number = LEVEL.info
  const say = (atLevel: number, line: string) => {
    if (atLevel <= level) console.error(`sonde: ${printable(line)}`)
  }
  try {
    const flags: TracebackFlags = mergedFlags(given)
    isCompat = flags.compat === true
    const settings = tracebackSettings(flags)
    level = settings.logLevel
    for (const warning of settings.warnings) say(LEVEL.warning, warning)
    return isCompat ? await watchCompatible(settings, say) : await watch(settings, say)
  } catch (error) {
    for (const line of error instanceof ConfigError ? error.lines : [messageOf(error)]) say(LEVEL.error, line)
    return exitCodeOf(error, isCompat)
  }
}

type Say = (level: number, line: string) => void

async function watch(settings: TracebackSettings, say: Say): Promise<number> {
  const { book, warnings } = readRulesFile(settings.rulesPath)
  for (const warning of warnings) say(LEVEL.warning, `${settings.rulesPath}: ${warning}`)
  const foreign = book.signals.find(({ dataId }) => dataId === undefined)
  if (foreign !== undefined)
    throw new ConfigError([
      `${settings.rulesPath}: signal ${JSON.stringify(foreign.name)} is of records of ${foreign.type}; ` +
        'allowed: data-ids alone; the agent watches other records, with traceback.rules',
    ])
  const signals = new StopSignals()
  try {
    const totals = await runTraceback({
      ...settings.limits,
      book,
      device: settings.device,
      openFeed: feedsFor(settings),
      forceOwnership: settings.forceOwnership,
      file: settings.file,
      rows: settings.format === 'csv' ? csvRows : jsonRows,
      version: VERSION,
      stop: signals.stop,
      onStart: (info) => sayStart(info, book.samplePeriodNs, say),
      onLoss: (reason) => say(LEVEL.error, `the events log cannot be written, and goes on when it can: ${reason}`),
    })
    for (const line of summaryOf(totals)) say(LEVEL.info, line)
    const { rows, reason } = totals.log.losses
    if (rows === 0) return EXIT.ok
    say(LEVEL.error, `${countOf(rows, 'row')} of the events log were not written: ${reason}`)
    return EXIT.failed
  } finally {
    signals.release()
  }
}

async function watchCompatible(settings: TracebackSettings, say: Say): Promise<number> {
  const book = readCompatBook(readRulesBytes(settings.rulesPath))
  const signals = new StopSignals()
  try {
    const samples = await runCompatible({
      book,
      device: settings.device,
      openFeed: feedsFor(settings),
      forceOwnership: settings.forceOwnership,
      logPath: settings.file.path,
      docaVersion: settings.docaVersion,
      stop: signals.stop,
      onStart: (info) => sayStart(info, book.rules.samplePeriodNs, say),
    })
    say(LEVEL.info, countOf(samples, 'sample'))
    // The reference application handles SIGINT only; any other signal ends it with its number.
    return signals.stop.reason === 'SIGINT' ? EXIT.ok : signals.exitCode
  } finally {
    signals.release()
  }
}

/** Where the device is searched: in the configured libraries, or in the simulated node. */
function feedsFor({ device, configPath, simulate }: TracebackSettings): OpenFeed {
  if (device.startsWith('file:')) return feedOpener({ paths: { procfs: '/proc', sysfs: '/sys' } })
  const { config } = loadConfig({ file: configPath, flags: [], simulate })
  const { paths, dataSources } = config.agent
  if (simulate.simulate === undefined) refuseForeignLibraries(paths, DOCA)
  const simulator = dataSources.find(({ definition }) => definition.name === 'simulator')
  return feedOpener(simulate.simulate === undefined ? { paths } : { paths, simulated: simulator?.options ?? {} })
}

function sayStart({ device, samplePeriodNs, clock }: FeedInfo, wantedNs: number, say: Say): void {
  if (samplePeriodNs !== wantedNs)
    say(LEVEL.warning, `${device} samples every ${samplePeriodNs} ns, not ${wantedNs} ns: rules count its samples`)
  if (clock === 'ticks') say(LEVEL.warning, `${device} has no clock of its own: times in the log are those of the host`)
  say(LEVEL.info, `watching ${device}, a sample every ${samplePeriodNs} ns`)
}

function summaryOf({ samples, gaps, missingSamples, resets, wraps, fallsLeftOut, log }: TracebackTotals): string[] {
  const lines = [
    `${countOf(samples, 'sample')}, ${countOf(log.events, 'event')}, ${countOf(log.samples, 'row')} of samples`,
  ]
  if (gaps > 0) lines.push(`${countOf(gaps, 'gap')} with ${countOf(missingSamples, 'missing sample')}`)
  const further = fallsLeftOut === 0 ? '' : `, and ${fallsLeftOut} more`
  if (resets + wraps > 0) lines.push(`counters fell: ${countOf(resets, 'reset')}, ${countOf(wraps, 'wrap')}${further}`)
  const { eventsLeftOut, samplesLeftOut, notesLeftOut, losses } = log
  if (eventsLeftOut + samplesLeftOut + notesLeftOut > 0)
    lines.push(
      `left out by limits: ${countOf(eventsLeftOut, 'event')}, ${countOf(samplesLeftOut, 'sample')}, ${countOf(notesLeftOut, 'note')}`,
    )
  if (losses.removedFiles > 0)
    lines.push(
      `removed by --log-files: ${countOf(losses.removedFiles, 'file')} with ${countOf(losses.removedBytes, 'byte')}`,
    )
  return lines
}

function exitCodeOf(error: unknown, isCompat: boolean): number {
  if (error instanceof ExitError) return error.exitCode
  if (isCompat) return EXIT.failed
  if (error instanceof ConfigError) return EXIT.usage
  return error instanceof SondeError && error.code === 'TRB_DENIED' ? EXIT.denied : EXIT.failed
}
