import type { LatestSeries } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import type { GridChart } from '../../chart/chart-grid.tsx'
import type { ChartMark, ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import type { SeriesSlot } from '../../components/palette.ts'
import { boundedColumn } from '../../format/quantity.ts'
import { heatStripsOf } from '../heat-strips.ts'
import { RATE_PROVENANCE } from '../interface-charts.ts'
import type { DevicePanel, PanelLine } from './panel.ts'
import { absenceReason, joinNames, missingOf, withEmptyLanes } from './panel-absence.ts'
import { membersOf, panelLimits } from './panel-members.ts'
import { columnsOf, isUnanswered, queryOf } from './panel-queries.ts'

const FALLBACK_SLOTS: readonly SeriesSlot[] = [1, 2, 3, 4, 5]

/** Turns panels into charts. A panel without data gives the reason. */
export function devicePanels(
  device: DeviceInfo,
  panels: readonly DevicePanel[],
  answer: QueryColumns,
  context: {
    /** The latest values of the series of the device; undefined before the first answer. */
    readonly latest: readonly LatestSeries[] | undefined
    readonly knownMetrics: ReadonlySet<string>
    readonly marks: readonly ChartMark[]
    /** Why the device is no longer read; empty while it is present. */
    readonly goneWords: string
  },
): readonly GridChart[] {
  const { latest, knownMetrics } = context
  return panels.flatMap((panel): readonly GridChart[] => {
    const { lines, limits: _limits, without, replaces, isApart = false, ...look } = panel
    const found = firstOfEachName(lines.flatMap((line) => membersOf(device, line, answer))).map((member) => ({
      ...member,
      values: boundedColumn(panel.quantity, member.values),
    }))
    const missing = missingOf(panel, found, latest ?? [])
    const members = panel.scale === 'lanes' && found.length > 0 ? withEmptyLanes(found, missing, answer) : found
    const isAsked = (line: PanelLine): boolean => knownMetrics.has(line.metric)
    const isSaid =
      latest !== undefined && !lines.some((line) => isAsked(line) && isUnanswered(line.of ?? device, line, answer))
    const spec: ChartSpec = {
      ...look,
      slots: panel.slots ?? FALLBACK_SLOTS,
      members,
      noun: nounOf(lines),
      isAlike: lines.some(({ each }) => each !== undefined),
      limits: panelLimits(device, panel, answer),
      marks: context.marks,
      isAwaited: found.length === 0 && !isSaid,
      provenance: lines.some((line) => line.function === 'rate')
        ? RATE_PROVENANCE
        : 'last sample in {step} · wall clock',
    }
    const replaced = replaces ? { replaces } : {}
    if (members.length === 0) {
      return [
        {
          spec,
          answer,
          absent: isSaid ? absenceReason(device, panel, answer, { ...context, latest }) : '',
          ...replaced,
        },
      ]
    }
    if (panel.scale === 'heat') {
      const strips = stripsOf(device, spec, lines, answer)
      return strips.map((strip, place) => (place === strips.length - 1 ? { ...strip, ...replaced } : strip))
    }
    if (isApart) return members.map((member) => ({ spec: apartSpec(spec, member), answer }))
    return [{ spec, answer, missing: [...Map.groupBy(missing, ({ reason }) => reason)].map(joinNames), ...replaced }]
  })
}

/** The chart of one member. */
function apartSpec(spec: ChartSpec, member: ChartMember): ChartSpec {
  return { ...spec, id: `${spec.id} ${member.key}`, title: `${spec.title} ${member.label}`, members: [member] }
}

/** Drops members with the name of an earlier member: the same quantity from another origin. */
function firstOfEachName(members: readonly ChartMember[]): readonly ChartMember[] {
  const names = new Set<string>()
  return members.filter(({ label, bin }) => bin !== undefined || (!names.has(label) && names.add(label)))
}

/** A heat strip for each histogram of a panel. The caption of the last strip reports what the answer left out. */
function stripsOf(
  device: DeviceInfo,
  spec: ChartSpec,
  lines: readonly PanelLine[],
  answer: QueryColumns,
): readonly GridChart[] {
  const { grid } = answer
  const [line] = lines
  const query = line && queryOf(device, line)
  const meta = query && answer.result(query)?.meta
  if (!grid || !line || !meta) return []
  const strips = heatStripsOf(columnsOf(device, line, answer), meta, grid)
  const missing = meta.notes.map((reason) => ({ name: 'bins', reason }))
  return strips.map(({ key, members, edges }, place) => {
    const isLast = place === strips.length - 1
    const id = strips.length > 1 ? `${spec.id} ${key}` : spec.id
    return { spec: { ...spec, id, members, edges }, answer, ...(isLast ? { missing } : {}) }
  })
}

const NOUNS: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ['priority', ['priority', 'priorities']],
  ['lane', ['lane', 'lanes']],
  ['thread', ['thread', 'threads']],
  ['cpu', ['CPU', 'CPUs']],
  ['disk', ['disk', 'disks']],
  ['numa_node', ['node', 'nodes']],
  ['resource', ['resource', 'resources']],
])

function nounOf(lines: readonly PanelLine[]): readonly [one: string, many: string] {
  const each = lines.find((line) => line.each !== undefined)?.each ?? ''
  if (typeof each !== 'string') return ['series', 'series']
  return NOUNS.get(each) ?? ['counter', 'counters']
}
