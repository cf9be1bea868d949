import { type CheckResult, reportText, runSelfTest, TESTED, type TestedLibrary } from '@sonde/agent'
import { ConfigError } from '../config/config-error.ts'
import type { Loaded } from '../config/load.ts'
import { VERSION } from '../version.ts'

/** Nothing could be tested: there is no library, or no device. */
const NOTHING = 4

/** Options of {@link runSelfTestCommand}. */
export interface SelfTestFlags {
  readonly selfTest: string
  readonly acceptTaint?: boolean
}

/**
 * `sonde explain --self-test doca|nvml`: makes the checks that only hardware can answer. The report is Markdown on
 * stdout, the progress is on stderr. Exit code 0 if no check failed, 1 if a check failed, 4 if nothing could be tested.
 */
export async function runSelfTestCommand({ config }: Loaded, flags: SelfTestFlags): Promise<number> {
  const library = TESTED.find((name): name is TestedLibrary => name === flags.selfTest)
  if (library === undefined)
    throw new ConfigError([`--self-test is ${JSON.stringify(flags.selfTest)}; allowed: ${TESTED.join(', ')}`])
  const { paths } = config.agent
  const onResult = (result: CheckResult, done: number, planned: number) =>
    console.error(`${done} of ${planned}: ${progressText(result)}`)
  const report = await runSelfTest(library, { paths, acceptsTaint: flags.acceptTaint === true, onResult })
  const program = [
    { of: 'Sonde', value: VERSION },
    { of: 'Node', value: `${process.version} on ${process.arch}` },
  ]
  process.stdout.write(reportText(report, program))
  if (report.nothing !== undefined) return NOTHING
  return report.results.some(({ verdict }) => verdict.state === 'failed') ? 1 : 0
}

function progressText({ check, device, verdict }: CheckResult): string {
  return `${check}${device === 0 ? '' : ` of device ${device}`} ${verdict.state}`
}
