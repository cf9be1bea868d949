import { printable } from '@sonde/sdk/internal'
import type { CheckResult, ReportFact } from './check.ts'
import type { SelfTestReport } from './run-self-test.ts'

const TITLES = { doca: 'Self-test of the DOCA Telemetry libraries', nvml: 'Self-test of NVML' } as const
const STATES = ['failed', 'not possible', 'passed'] as const

/**
 * Writes a report as Markdown, for a public bug report.
 *
 * @param program Version of Sonde and of Node.
 */
export function reportText(report: SelfTestReport, program: readonly ReportFact[]): string {
  const { library, facts, results, nothing, seconds } = report
  const head = [
    `# ${TITLES[library]}`,
    '',
    ...tableOf(
      ['', ''],
      [...program, ...facts].map(({ of, value }) => [of, value]),
    ),
  ]
  if (nothing !== undefined) return `${[...head, '', `Nothing could be tested: ${nothing}`].join('\n')}\n`
  const counts = STATES.map((state) => `${results.filter(({ verdict }) => verdict.state === state).length} ${state}`)
  const summary = `${counts.join(', ')}, in ${Math.ceil(seconds)} s.`
  const sections = STATES.flatMap((state) => sectionOf(state, results))
  return `${[...head, '', summary, ...sections].join('\n')}\n`
}

/** The results of one state. Devices with the same result share a row. */
function sectionOf(state: (typeof STATES)[number], results: readonly CheckResult[]): string[] {
  const rows = new Map<string, { readonly cells: readonly string[]; readonly devices: number[] }>()
  for (const { check, device, verdict } of results) {
    if (verdict.state !== state) continue
    const cells = cellsOf(verdict)
    const key = [check, ...cells].join('\n')
    const row = rows.get(key) ?? { cells: [check, ...cells], devices: [] }
    if (device > 0) row.devices.push(device)
    rows.set(key, row)
  }
  if (rows.size === 0) return []
  const heads = { failed: ['Expected', 'Found'], 'not possible': ['Reason'], passed: ['Found'] }[state]
  const title = `${state[0]?.toUpperCase()}${state.slice(1)}`
  const lines = [...rows.values()].map(({ cells: [check = '', ...more], devices }) => [
    check,
    devices.join(', '),
    ...more,
  ])
  return ['', `## ${title}`, '', ...tableOf(['Check', 'Device', ...heads], lines)]
}

function cellsOf(verdict: CheckResult['verdict']): string[] {
  if (verdict.state === 'failed') return [verdict.expected, verdict.found]
  return [verdict.state === 'passed' ? verdict.found : verdict.reason]
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(cellText).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---|').join('')}`, ...rows.map(line)]
}

/** Text of a library must neither end a cell nor begin a tag. */
function cellText(text: string): string {
  return printable(text).replace(/[\\`*[\]<>|#]/g, '\\$&')
}
