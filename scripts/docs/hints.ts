// The page docs/hints.md, from the rules themselves: limits, look-alikes and what is lacking cannot differ from them.

import { readFileSync } from 'node:fs'
import { LINGER_MS } from '../../packages/agent/src/hints/cases/case.ts'
import { RULES } from '../../packages/agent/src/hints/rules/index.ts'
import type { Rule } from '../../packages/agent/src/hints/rules/rule.ts'
import { SCENARIOS } from '../../packages/agent/src/sources/simulator/scenarios/scenarios.ts'
import { EXPECTED, type Fault } from '../../test/faults/hints/expected.ts'
import { HIDINGS, whyHidden } from '../../test/faults/hints/hiding.ts'
import type { FaultOutcome } from '../../test/faults/loop.ts'

const INTRODUCTION = `# Hints

<!-- Made by \`npm run docs\` from the rules; do not edit. -->

A hint says what a rule sees on one device: the numbers, their limit, and what the siblings do meanwhile. It never
says a cause. The page shows hints,
\`GET /api/v1/hints\` and the live stream [tell them](http-api.md), history keeps their life as records of
\`sonde_mark\` and what they said as records of \`sonde_hint\`, every minute, and \`/metrics\` counts them
in \`sonde_hints_open\` and \`sonde_hints_opened_total\`.

* **Two stages.** A hint *forms* once its rule holds in 3 of 5 evaluations, four a second, on two samples at least;
  what is counted and not measured forms at the first. It
  *stands* once it has held for as long as the table says.
* **One end.** A hint ends when its rule held last: headline, flags, tables, the API and windows of the past all have
  that time. It stays open for a while after that, as *holds no more* (\`lingering\`), for as long as the table says:
  if its rule holds again meanwhile, it is the same hint. What is counted, such as an uncorrected error, holds for the
  minute after it was counted. \`sonde_hints_open\` counts what is open.
* **Siblings first.** GPUs are compared with the other GPUs of the node, ports with the other ports that serve
  training. Then comes the device's own mean of the last
  10 minutes, which stands still while anything worse than a notice is open on the same node; the simulated node is
  one of its own.
* **Look-alikes** are ruled out before a hint forms. Where one rule explains what another sees, only the first one
  tells: the device at fault is marked, those that only show the
  effect are listed as affected.
* **What is missing never fires.** A missing sample is no zero. A counter that restarts, a long pause or a step of the
  clock begins its window anew. What a rule would have
  used and the node does not have is listed with the hint.
* **Limits.** Two minutes of samples a signal, 8 192 signals; further series are not looked at and counted as
  \`window_limit\` of the sink \`hints\`. 100 hints that ended, for an
  hour; older ones are in history. 1 024 rules on devices at a time; what finds no room is counted in \`sonde_hints_lost_total\`.

* **Numbers support the verdict.** A sentence names the value that passed its limit, and that limit: of what holds its
  newest samples, of what is over its worst moment. Siblings are compared at the moments of the same samples.
* **What was there before the start** is told as such: an XID or an uncorrected memory error of the first sample, a link
  that never was up. PCIe errors and errors of host memory from before are not: their counters begin with the machine.
* **Times of which nothing is known** are in \`unknown\`: before the start, while the process was stopped or the machine
  slept for more than 3 s, and where the clock was set.

## What no rule can know

\`npm run faults -- hints\` sets random faults on simulated nodes, one or two at a time, and \`npm run faults --
health\` lets healthy ones run. [The tables](../test/faults/RESULTS.md) are theirs. What lies below these limits counts
apart there:

* **Without GPUs that do the same work** (one GPU, or one beside another that MIG splits) a straggler and a collective
  that hangs look like work.
* **Where requests are served**, a slow GPU, and a wait for data, look like more or fewer requests.
* **A GPU that moves under 1 GB/s** may have slowed its PCIe link down to save power; errors of the link are told all
  the same.
* **Congestion** below 6 % of marked packets, and on both NICs of a node that has no third.
* **Losses** of less than 100 packets a second. A rail that serves requests sends so little that this is one packet of
  three hundred at 100 Gb/s.
* **PCIe errors** of less than 310 a minute, all of them corrected.
* **Another tenant** that takes less than 21 % of the line.
* **A straggler** of less than 1.1 times the compute time.
* **Air** that is less than 32 °C too warm, on PCIe cards and on GPUs that serve: they warm up for a minute or more.

Rules see one node and, at the full rate of their sources, two samples a second at most. What lasts for less than a
second is for the rings of traceback.
`

/** The page as text. */
export function hintsPage(): string {
  const rows = RULES.map(
    ({ name, of, severity, neededMs, lingerMs = LINGER_MS, sees }) =>
      `| [\`${name}\`](#${anchorOf(name, of)}) | ${SUBJECT[of]} | ${severity} | ${durationOf(neededMs)} | ${durationOf(lingerMs)} | ${sees} |`,
  )
  const head = ['| Rule | Of | Severity | Stands after | Open after its end | Sees |', '|---|---|---|---|---|---|']
  const table = [...head, ...rows].join('\n')
  return `${INTRODUCTION}\n${figures()}\n${pairs()}\n${table}\n\n${RULES.map(sectionOf).join('\n')}`
}

/** What the last runs of the loops saw, as their own table says it. */
function figures(): string {
  const stored: FaultOutcome[] = JSON.parse(
    readFileSync(new URL('../../test/faults/results.json', import.meta.url), 'utf8'),
  )
  const rows = stored.filter(({ name }) => name === 'hints' || name === 'health')
  const lines = rows.map(({ name, rounds, seed, seen }) => {
    const command = `npm run faults -- ${name} --rounds ${rounds} --seed ${seed}`
    return `| \`${command}\` | ${seen.split('. All of these')[0]} |`
  })
  return ['| Run | Told |', '|---|---|', ...lines, ''].join('\n')
}

/** Which of two faults hides the other: why, and which. */
function pairs(): string {
  const reasons = HIDINGS.map(({ why }) => `* ${why}`)
  const rows = Object.keys(EXPECTED).map((hidden) => {
    const anywhere = hidersOf(hidden, 'sim-other')
    const here = hidersOf(hidden, 'sim').filter((name) => !anywhere.includes(name) && name !== hidden)
    return `| \`${hidden}\` | ${anywhere.join(', ') || '–'} | ${here.join(', ') || '–'} |`
  })
  return [
    ...['## Faults that hide others', ''],
    ...['Where two faults strike a node at once, one may hide the other: that need not be told then.', ''],
    ...[...reasons, '', 'On a node of eight GPUs and eight rails that trains:', ''],
    ...['| Fault | Hidden by, anywhere on the node | And on the same device |', '|---|---|---|', ...rows, ''],
  ].join('\n')
}

/** Faults that hide another one, where they are on a device of some place and it is on one of `sim`. */
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

const SUBJECT: Readonly<Record<Rule['of'], string>> = {
  gpu: 'each GPU',
  nic: 'each NIC',
  port: 'each port',
  node: 'the node',
}

function sectionOf(rule: Rule): string {
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
    ...(others.length > 0 ? [`* Not where ${others.join(' or ')} explains it.`] : []),
    ...(goesOn === undefined ? [] : [`* An open hint goes on while ${goesOn.while}.`]),
    `* Uses ${[...new Set(uses.map(({ metric }) => `\`${metric}\``))].join(', ')}.`,
    ...(lacksAlways.length > 0 ? [`* Always lacks ${lacksAlways.join(', ')}.`] : []),
    '',
  ].join('\n')
}

/** As GitHub makes it of the heading. */
function anchorOf(name: string, of: Rule['of']): string {
  return `${name}-of-${SUBJECT[of].toLowerCase().replaceAll(' ', '-')}`
}

function durationOf(milliseconds: number): string {
  if (milliseconds === 0) return 'at once'
  return milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`
}
