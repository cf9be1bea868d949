// Generates docs/hints.md from the rules, so that limits, look-alikes and missing facts cannot differ from them.

import { readFileSync } from 'node:fs'
import { LINGER_MS } from '../../packages/agent/src/hints/cases/case.ts'
import { RULES } from '../../packages/agent/src/hints/rules/index.ts'
import type { HintRule } from '../../packages/agent/src/hints/rules/rule.ts'
import { SCENARIOS } from '../../packages/agent/src/sources/simulator/scenarios/scenarios.ts'
import { EXPECTED, type Fault } from '../../test/faults/hints/expected.ts'
import { HIDINGS, whyHidden } from '../../test/faults/hints/hiding.ts'
import type { FaultOutcome } from '../../test/faults/loop.ts'

const INTRODUCTION = `# Hints

<!-- Made by \`npm run docs\` from the rules; do not edit. -->

A hint reports the finding of a rule about one device: the numbers, their limit, and the values of its siblings. It
never reports a cause. The page shows hints, and \`GET /api/v1/hints\` and the live stream [send them](http-api.md).
History keeps their edges as records of \`sonde_mark\`, and their full state every minute as records of \`sonde_hint\`.
\`/metrics\` counts them in \`sonde_hints_open\` and \`sonde_hints_opened_total\`.

* **Two stages.** A hint *forms* when its rule holds in 3 of 5 evaluations, four a second, and on at least two samples.
  A rule that counts events forms its hint at the first event. The hint is *confirmed* (\`standing\`) when its rule has
  held for the time in the table.
* **One end.** A hint ends at the time that its rule last held. Headline, flags, tables, the API and windows of the
  past all show this time. The hint stays open for some more time as *holds no more* (\`lingering\`); the table has
  this time. If its rule holds again meanwhile, it is the same hint. A counted event, such as an uncorrected error,
  holds for one minute. \`sonde_hints_open\` counts open hints.
* **Siblings first.** GPUs are compared with the other GPUs of the node, and ports with the other ports of training.
  The next comparison is the device's mean of the last 10 minutes. The mean is frozen while a hint worse than a notice
  is open on the same node; the simulated node counts as another node.
* **Look-alikes** are excluded before a hint forms. If one rule explains another, only the explaining rule gives a
  hint: the faulty device is marked, and devices that only show the effect are listed as affected.
* **Missing values never fire.** A missing sample is not zero. After a restart of a counter, a long pause or a step of
  the clock, its window starts again. A hint lists the signals that the rule could use and the node does not have.
* **Limits.** Two minutes of samples for each signal, and 8 192 signals. Further series are not watched and counted as
  \`window_limit\` of the sink \`hints\`. 100 ended hints, for an hour; older hints are in the history. 1 024 rules on
  devices at a time; the rest is counted in \`sonde_hints_lost_total\`.

* **Numbers support the verdict.** A sentence names the value that passed its limit, and the limit. An open hint has
  the newest values, an ended hint the worst values. Siblings are compared at the same sample times.
* **Faults from before the start** are marked as such: an XID or an uncorrected memory error in the first sample, a
  link that never was up. Earlier PCIe errors and errors of host memory are not reported, because their counters start
  with the machine.
* **Unknown times** are in \`unknown\`: before the start, while the process was stopped or the machine slept for more
  than 3 s, and around a change of the clock.

## Limits of all rules

\`npm run faults -- hints\` puts random faults on simulated nodes, one or two at a time, and \`npm run faults --
health\` runs healthy nodes. [The tables](../test/faults/RESULTS.md) show their results. Faults below these limits are
counted apart in them:

* **Without GPUs that do the same work** (one GPU, or one GPU beside a GPU that MIG splits), a straggler and a hanging
  collective look like work.
* **On a node that serves requests**, a slow GPU and a wait for data look like a change in the number of requests.
* **A GPU that moves less than 1 GB/s** may have slowed its PCIe link down to save power. Errors of the link are still
  reported.
* **Congestion** below 6 % of marked packets, and congestion on both NICs of a node with two NICs.
* **Losses** of less than 100 packets a second. A rail that serves requests sends so little that this is one of three
  hundred packets at 100 Gb/s.
* **PCIe errors** of less than 310 a minute, if all of them were corrected.
* **Another tenant** that uses less than 21 % of the line.
* **A straggler** of less than 1.1 times the compute time.
* **Air** that is less than 32 °C too warm, for PCIe cards and for GPUs that serve: they take a minute or more to warm
  up.

Rules see one node and, at the full rate of their sources, at most two samples a second. Shorter events are recorded by
the rings of traceback.
`

const COLUMNS = 120

/** The page as text. */
export function hintsPage(): string {
  const rows = RULES.map(
    ({ name, of, severity, neededMs, lingerMs = LINGER_MS, sees }) =>
      `| [\`${name}\`](#${anchorOf(name, of)}) | ${SUBJECT[of]} | ${severity} | ${durationOf(neededMs)} | ${durationOf(lingerMs)} | ${sees} |`,
  )
  const head = ['| Rule | Of | Severity | Confirmed after | Open after its end | Fault |', '|---|---|---|---|---|---|']
  const table = [...head, ...rows].join('\n')
  const page = `${INTRODUCTION}\n${figures()}\n${pairs()}\n${table}\n\n${RULES.map(sectionOf).join('\n')}`
  return page.split('\n').map(wrapped).join('\n')
}

/** Results of the last runs of the loops, from their table. */
function figures(): string {
  const stored: FaultOutcome[] = JSON.parse(
    readFileSync(new URL('../../test/faults/results.json', import.meta.url), 'utf8'),
  )
  const rows = stored.filter(({ name }) => name === 'hints' || name === 'health')
  const lines = rows.map(({ name, rounds, seed, seen }) => {
    const command = `npm run faults -- ${name} --rounds ${rounds} --seed ${seed}`
    return `| \`${command}\` | ${seen.split('. All of these')[0]} |`
  })
  return ['| Run | Reported |', '|---|---|', ...lines, ''].join('\n')
}

/** Faults that hide others: the reasons, and a table. */
function pairs(): string {
  const reasons = HIDINGS.map(({ why }) => `* ${why}`)
  const rows = Object.keys(EXPECTED).map((hidden) => {
    const anywhere = hidersOf(hidden, 'sim-other')
    const here = hidersOf(hidden, 'sim').filter((name) => !anywhere.includes(name) && name !== hidden)
    return `| \`${hidden}\` | ${anywhere.join(', ') || '–'} | ${here.join(', ') || '–'} |`
  })
  return [
    ...['## Faults that hide others', ''],
    ...['If two faults strike a node at once, one may hide the other. The hidden fault need not be reported then.', ''],
    ...[...reasons, '', 'On a training node with eight GPUs and eight rails:', ''],
    ...['| Fault | Hidden by, anywhere on the node | And on the same device |', '|---|---|---|', ...rows, ''],
  ].join('\n')
}

/** Faults on devices of `place` that hide a fault on a device of `sim`. */
function hidersOf(hidden: string, place: string): string[] {
  return Object.keys(EXPECTED).filter((hider) =>
    faultsOf(hider, place).some((one) => faultsOf(hidden, 'sim').some((other) => whyHidden(one, other) !== undefined)),
  )
}

/** A fault on each kind of device that it can strike. */
function faultsOf(name: string, place: string): Fault[] {
  const { target, alsoTarget } = SCENARIOS.find((scenario) => scenario.name === name) ?? {}
  return [target, alsoTarget].flatMap((kind): Fault[] => {
    if (kind === undefined) return []
    const device = kind === 'node' ? 'sim-node' : `${place}-${kind}`
    return [{ scenario: name, device, nodeClass: 'hgx-h100', workload: 'training', severity: 1 }]
  })
}

const SUBJECT: Readonly<Record<HintRule['of'], string>> = {
  gpu: 'each GPU',
  nic: 'each NIC',
  port: 'each port',
  node: 'the node',
}

function sectionOf(rule: HintRule): string {
  const { name, of, uses, limits, not, toldApart = [], explainedBy = {}, goesOn, lacksAlways = [] } = rule
  const alike = [...Object.keys(not), ...toldApart].map((words) => `* Not ${words}.`)
  const others = Object.keys(explainedBy).map((other) => `\`${other}\``)
  return [
    `## \`${name}\` of ${SUBJECT[of]}`,
    '',
    '| Limit of | Value | Source |',
    '|---|---|---|',
    ...limits.map(({ what, value, unit, source }) => `| ${what} | ${value} ${unit} | ${source} |`),
    '',
    ...alike,
    ...(others.length > 0 ? [`* Not if ${others.join(' or ')} explains it.`] : []),
    ...(goesOn === undefined ? [] : [`* An open hint continues while ${goesOn.while}.`]),
    `* Uses ${[...new Set(uses.map(({ metric }) => `\`${metric}\``))].join(', ')}.`,
    ...(lacksAlways.length > 0 ? [`* Never known: ${lacksAlways.join(', ')}.`] : []),
    '',
  ].join('\n')
}

/** The anchor that GitHub gives the heading. */
function anchorOf(name: string, of: HintRule['of']): string {
  return `${name}-of-${SUBJECT[of].toLowerCase().replaceAll(' ', '-')}`
}

function durationOf(milliseconds: number): string {
  if (milliseconds === 0) return 'at once'
  return milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`
}

/** A line of a list, wrapped at 120 columns. */
function wrapped(line: string): string {
  if (!line.startsWith('* ')) return line
  const lines: string[] = []
  for (const word of line.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`
    if (lines.length > 0 && longer.length <= COLUMNS) lines[lines.length - 1] = longer
    else lines.push(lines.length === 0 ? word : `  ${word}`)
  }
  return lines.join('\n')
}
