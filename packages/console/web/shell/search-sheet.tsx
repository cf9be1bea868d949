import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { usePods } from '../api/apps.ts'
import { useDevices } from '../api/devices.ts'
import { useIncidents } from '../api/incidents.ts'
import { useSeriesOfMetric, useTypes } from '../api/resources.ts'
import { ComboInput } from '../components/combo-input.tsx'
import { Dialog } from '../components/dialog.tsx'
import { usePageState } from '../state/time-window.ts'
import { type SearchResult, searchPlaces } from './search-results.ts'

/** Searches pages, devices, pods, interfaces, events and metrics, and goes there. */
export function SearchSheet({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation()
  const places = usePlaces()
  const go = (value: string): void => {
    const place = places.find((candidate) => candidate.value === value)
    onClose()
    if (place) navigate(place.href)
  }
  return (
    <Dialog label="Search" className="search-sheet" onClose={onClose}>
      <ComboInput
        label="Search pages, devices, pods, metrics"
        className="is-inline"
        placeholder="Search pages, devices, pods, metrics"
        value=""
        options={places}
        isStrict
        isInline
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
