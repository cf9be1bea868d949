import type { EventLane } from '@sonde/sdk/api'
import type { SeriesSlot } from '../../components/palette.ts'
import { compareNames } from '../../format/names.ts'
import { type Onset, onsetMiddleMs } from './onset.ts'

/** Group of a lane. The signal of the rule comes before all others. */
export type LanePlace = 'rule' | 'pci' | 'nic' | 'gpu' | 'host' | 'application'

/** The lanes of a group, under its title. */
export interface LaneGroup {
  readonly place: LanePlace | 'changed' | 'steady'
  readonly title: string
  readonly lanes: readonly EventLane[]
}

/** From the bus to the applications: the order in which trouble spreads. */
const PLACES: readonly (readonly [place: LanePlace, title: string])[] = [
  ['rule', 'Signal of the rule'],
  ['pci', 'PCIe'],
  ['nic', 'NIC'],
  ['gpu', 'GPU'],
  ['host', 'Host'],
  ['application', 'Applications'],
]

const BY_KIND: ReadonlyMap<string, LanePlace> = new Map([
  ['pci', 'pci'],
  ['nic', 'nic'],
  ['netdev', 'nic'],
  ['gpu', 'gpu'],
  ['host', 'host'],
  ['node', 'host'],
])
const HOST_TYPE = /^(host|psi|disk|open_files|process|memory|cpu)/

/** The group of a lane by its kind, whether or not a rule watches it. */
export function kindPlace({ kind, type }: Pick<EventLane, 'kind' | 'type'>): Exclude<LanePlace, 'rule'> {
  const place = BY_KIND.get(kind) ?? (HOST_TYPE.test(type) ? 'host' : 'application')
  return place === 'rule' ? 'application' : place
}

/** Name of a kind in a sentence. */
export const PLACE_WORDS: Readonly<Record<Exclude<LanePlace, 'rule'>, string>> = {
  pci: 'PCIe',
  nic: 'NIC',
  gpu: 'GPU',
  host: 'Host',
  application: 'Application',
}

/** A kind has the same hue on every page. */
export const PLACE_SLOTS: Readonly<Record<Exclude<LanePlace, 'rule'>, SeriesSlot>> = {
  pci: 7,
  nic: 1,
  gpu: 2,
  host: 6,
  application: 4,
}

/** The lanes by group: the rule first, then PCIe, NIC, GPU, host and applications. */
export function groupLanes(lanes: readonly EventLane[]): readonly LaneGroup[] {
  const placed = Map.groupBy(lanes, (lane): LanePlace => (lane.isOfRule ? 'rule' : kindPlace(lane)))
  return PLACES.flatMap(([place, title]) => {
    const own = placed.get(place)
    if (!own) return []
    const sorted = own.toSorted((a, b) => compareNames(a.deviceName, b.deviceName) || compareNames(a.name, b.name))
    return [{ place, title, lanes: sorted }]
  })
}

/** The lanes in display order: by group, or, with onsets, by first change. Lanes without a change come last. */
export function sortLanes(
  lanes: readonly EventLane[],
  onsets?: ReadonlyMap<string, { readonly onset: Onset | undefined }>,
): readonly LaneGroup[] {
  const placed = groupLanes(lanes)
  if (!onsets) return placed
  const all = placed.flatMap((group) => group.lanes)
  const onsetOf = ({ key }: EventLane): Onset | undefined => onsets.get(key)?.onset
  const changed = all
    .filter((lane) => onsetOf(lane))
    .toSorted((a, b) => onsetMiddleMs(onsetOf(a)!) - onsetMiddleMs(onsetOf(b)!))
  const steady = all.filter((lane) => !onsetOf(lane))
  const groups: readonly LaneGroup[] = [
    { place: 'changed', title: 'Changed, the first first', lanes: changed },
    { place: 'steady', title: 'Did not change', lanes: steady },
  ]
  return groups.filter((group) => group.lanes.length > 0)
}
