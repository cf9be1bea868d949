import { INCIDENT_MARGIN_MS } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { usePathname } from 'wouter/use-browser-location'
import { usePods } from '../api/apps.ts'
import { useDevices } from '../api/devices.ts'
import { useIncidents } from '../api/incidents.ts'
import { useSeriesOfMetric, useTypes } from '../api/resources.ts'
import { ComboInput } from '../components/combo-input.tsx'
import { Dialog } from '../components/dialog.tsx'
import { formatDateTime, zoneName } from '../format/time.ts'
import { serverNowMs } from '../state/clock.ts'
import { parseMoment } from '../state/parse-moment.ts'
import { usePageState } from '../state/time-window.ts'
import { type SearchResult, searchPlaces } from './search-results.ts'

/** Searches pages, devices, pods, interfaces, incidents and metrics, and goes there, or to a time. */
export function SearchSheet({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation()
  const places = usePlaces()
  const page = usePageState()
  const path = usePathname()
  const zone = page.url.tz ?? 'utc'
  const momentOf = (text: string): SearchResult | undefined => {
    const atMs = parseMoment(text, serverNowMs(), zone)
    if (atMs === undefined) return undefined
    const window = { rangeMs: undefined, fromMs: atMs - INCIDENT_MARGIN_MS, toMs: atMs + INCIDENT_MARGIN_MS }
    const href = `~${page.hrefTo(path, window)}`
    return { value: formatDateTime(atMs, zone), note: `time, ${zoneName(zone, atMs)}`, href }
  }
  const go = (value: string): void => {
    const place = places.find((candidate) => candidate.value === value) ?? momentOf(value)
    onClose()
    if (place) navigate(place.href)
  }
  return (
    <Dialog label="Search" className="search-sheet" onClose={onClose}>
      <ComboInput
        label="Search pages, devices, pods, metrics, times"
        className="is-inline"
        placeholder="Search pages, devices, pods, metrics; or a time: 14:03"
        value=""
        options={places}
        isStrict
        isInline
        typedOption={momentOf}
        onCommit={go}
      />
    </Dialog>
  )
}

function usePlaces(): readonly SearchResult[] {
  const page = usePageState()
  const { data: types } = useTypes()
  const { data: devices } = useDevices()
  const { data: pods } = usePods()
  const { data: listed } = useIncidents({})
  const { data: interfaces } = useSeriesOfMetric('netdev_rx_bytes_total')
  return useMemo(
    () =>
      searchPlaces({
        devices: devices?.devices ?? [],
        pods: pods?.pods ?? [],
        interfaces: (interfaces?.series ?? []).map(({ labels }) => labels.device ?? ''),
        types: types?.types ?? [],
        incidents: listed?.incidents ?? [],
        hrefTo: page.hrefTo,
      }),
    [page, types, interfaces, devices, pods, listed],
  )
}
