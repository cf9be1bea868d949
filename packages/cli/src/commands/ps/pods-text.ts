import type { AppGpuPod, GpuField, GpuSum, PodsAnswer } from '@sonde/sdk/api'
import { countOf, printable } from '@sonde/sdk/internal'
import { lineOf, type TextColumn } from '../read/columns.ts'
import { durationText, memoryText, percentText, wattsText } from './units.ts'

/** Number of pods that a reason names; the table shows the others without a number. */
const NAMED_PODS_MAX = 5
/** Numbers that a pod has of its own processes, also on a shared GPU. */
const OF_PROCESSES: ReadonlySet<GpuField> = new Set(['gpu-util', 'gpu-mem-used'])
/** Marks a number of a whole GPU that other processes use too. */
const MARK = '*'

interface PodColumn extends TextColumn {
  readonly text: (pod: AppGpuPod, nowMs: number) => string
}

/** A column with a number, with its word in a reason. */
interface NumberColumn {
  readonly title: string
  readonly field: GpuField
  readonly word: string
  readonly text: (value: number) => string
}

const NUMBERS: readonly NumberColumn[] = [
  { title: 'UTIL', field: 'gpu-util', word: 'utilisation', text: percentText },
  { title: 'MEM USED', field: 'gpu-mem-used', word: 'memory used', text: memoryText },
  { title: 'MEM TOTAL', field: 'gpu-mem-total', word: 'memory total', text: memoryText },
  { title: 'TENSOR', field: 'gpu-tensor-active', word: 'tensor', text: percentText },
  { title: 'SM', field: 'gpu-sm-active', word: 'SM', text: percentText },
  { title: 'DRAM', field: 'gpu-dram-active', word: 'DRAM', text: percentText },
  { title: 'POWER', field: 'gpu-power-w', word: 'power', text: wattsText },
]

const COLUMNS: readonly PodColumn[] = [
  { title: 'NAMESPACE', isNumber: false, text: ({ namespace }) => namespace },
  { title: 'POD', isNumber: false, text: ({ name }) => name },
  { title: 'APP', isNumber: false, text: ({ app }) => app },
  { title: 'SERVICE', isNumber: false, text: ({ service }) => service },
  { title: 'GPUS', isNumber: true, text: gpusText },
  ...NUMBERS.map(({ title, field, text }): PodColumn => {
    return { title, isNumber: true, text: (pod) => numberText(pod, field, text) }
  }),
  { title: 'AGE', isNumber: true, text: ({ startedMs }, nowMs) => orDash(startedMs, (ms) => durationText(nowMs - ms)) },
  { title: 'SAMPLE', isNumber: true, text: ({ ageMs }) => orDash(ageMs, durationText) },
]

/**
 * One row for each pod, with `-` for an unknown number. Below the rows stand each reason once, and the totals of all
 * GPUs. A number of a whole GPU that others use too has a `*`. Names are shown as text.
 */
export function podsText({ pods, totals, nowMs }: PodsAnswer): string {
  const titles = COLUMNS.map(({ title }) => title)
  const rows = pods.map((pod) => COLUMNS.map(({ text }) => printable(text(pod, nowMs)) || '-'))
  const widths = COLUMNS.map((_, i) => Math.max(...[titles, ...rows].map((row) => row[i]?.length ?? 0)))
  const table = [titles, ...rows].map((row) => lineOf(COLUMNS, widths, row))
  const notes = [
    ...attributionNotes(pods),
    ...sharedNotes(pods),
    ...reasons(pods),
    ...totalNote(totals, pods),
    ...simulatedNote(pods),
  ].map(printable)
  return [...table, ...(notes.length === 0 ? [] : ['', ...notes])].join('\n')
}

/** `trainer-3: no utilisation: …`, once for all pods with the same reason. */
function reasons(pods: readonly AppGpuPod[]): string[] {
  const podsBy = new Map<string, AppGpuPod[]>()
  for (const pod of pods) {
    for (const { fields, reason } of pod.gaps) {
      // Other numbers of the whole GPU are explained above.
      const told = fields.filter((field) => pod.deviceValues[field] === undefined || OF_PROCESSES.has(field))
      const words = NUMBERS.filter(({ field }) => told.includes(field)).map(({ word }) => word)
      if (words.length === 0) continue
      const what = `no ${words.length === NUMBERS.length ? 'numbers' : words.join(', ')}: ${reason}`
      const known = podsBy.get(what)
      if (known === undefined) podsBy.set(what, [pod])
      else known.push(pod)
    }
  }
  return [...podsBy].map(([what, ofReason]) => `${namesOf(ofReason, pods)}: ${what}`)
}

/** How sure it is that pods hold their GPUs, and which labels named their apps: once for all pods with equal words. */
function attributionNotes(pods: readonly AppGpuPod[]): string[] {
  const decided = pods.filter(({ isSimulated, attribution }) => !isSimulated && attribution !== null)
  const byWords = Map.groupBy(decided, attributionText)
  const notes = decided.flatMap((pod) => pod.attribution?.notes.map((note) => `${namesOf([pod], pods)}: ${note}`) ?? [])
  return [
    ...[...byWords].flatMap(([words, some]) => (words === '' ? [] : [`${namesOf(some, pods)}: ${words}`])),
    ...notes,
  ]
}

/** `GPUs certain, by the kubelet; app by label app (API server)`. */
function attributionText({ attribution }: AppGpuPod): string {
  if (attribution === null) return ''
  const { confidence, from, appLabel, labelsFrom, phase, waiting } = attribution
  const held = confidence === null ? [] : [`GPUs ${confidence}, by ${from.join(' and ')}`]
  const app = appLabel === '' ? [] : [`app by label ${appLabel} (${labelsFrom})`]
  const state = waiting === '' ? [] : [`${phase || 'not running'}: ${waiting}`]
  return [...held, ...app, ...state].join('; ')
}

/** Explains `*`, and counts the pods whose GPUs are shared. */
function sharedNotes(pods: readonly AppGpuPod[]): string[] {
  const sharing = pods.filter(({ sharedWith }) => sharedWith > 0)
  const byCount = Map.groupBy(sharing, ({ sharedWith }) => sharedWith)
  const shared = [...byCount].map(
    ([count, some]) => `${namesOf(some, pods)}: shared with ${countOf(count, 'other pod')}`,
  )
  const isMarked = pods.some(({ deviceValues }) => NUMBERS.some(({ field }) => deviceValues[field] !== undefined))
  return isMarked ? [...shared, `${MARK} of the whole GPU, which other pods or instances use too`] : shared
}

/** Totals of the GPUs, each counted once. Empty if no pod shares a GPU, because the rows then add up. */
function totalNote({ gpus, sharedGpus, powerW, memoryUsedBytes }: PodsAnswer['totals'], pods: readonly AppGpuPod[]) {
  const isAddable = pods.every(({ sharedWith, instances }) => sharedWith === 0 && instances === 0)
  if (isAddable) return []
  const sums = [
    ...(powerW === null ? [] : [wattsText(powerW.sum) + wholeText(powerW)]),
    ...(memoryUsedBytes === null ? [] : [`${memoryText(memoryUsedBytes.sum)} used${wholeText(memoryUsedBytes)}`]),
  ]
  const shared = sharedGpus === 0 ? '' : `, ${sharedGpus} of them shared`
  return [
    `All together, each GPU once: ${[countOf(gpus, 'GPU or instance', 'GPUs and instances') + shared, ...sums].join(', ')}`,
  ]
}

/** How many GPUs in a sum are shared with others. */
function wholeText({ wholeGpus }: GpuSum): string {
  return wholeGpus === 0 ? '' : ` of ${countOf(wholeGpus, 'whole GPU')}`
}

function simulatedNote(pods: readonly AppGpuPod[]): string[] {
  const simulated = pods.filter(({ isSimulated }) => isSimulated)
  if (simulated.length === 0) return []
  return [simulated.length === pods.length ? 'All of them are simulated.' : `${namesOf(simulated, pods)}: simulated`]
}

/** Names of some of the pods, with their namespaces if there are several. */
function namesOf(some: readonly AppGpuPod[], pods: readonly AppGpuPod[]): string {
  const isOne = pods.every(({ namespace }) => namespace === pods[0]?.namespace)
  const names = some.slice(0, NAMED_PODS_MAX).map(({ namespace, name }) => (isOne ? name : `${namespace}/${name}`))
  const more = some.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

/** The GPUs that the pod holds, and the number that it requests if that differs. */
function gpusText({ gpus, requested }: AppGpuPod): string {
  return requested === null || requested === gpus ? String(gpus) : `${gpus} of ${requested}`
}

/** The number of the pod. If it is missing, the number of the whole GPU, with a mark. */
function numberText({ values, deviceValues }: AppGpuPod, field: GpuField, text: (value: number) => string): string {
  const ofDevice = deviceValues[field]
  return values[field] === null && ofDevice !== undefined ? `${text(ofDevice)}${MARK}` : orDash(values[field], text)
}

function orDash(value: number | null, text: (value: number) => string): string {
  return value === null ? '-' : text(value)
}
