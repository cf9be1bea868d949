import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { useDevices } from '../api/devices.ts'
import { useSeriesOfMetric, useTypes } from '../api/resources.ts'
import { ComboInput } from '../components/combo-input.tsx'
import type { ComboOption } from '../components/combo-options.ts'
import { Dialog } from '../components/dialog.tsx'
import { devicePath, deviceTitle } from '../devices/device.ts'
import { compareNames } from '../format/names.ts'
import { firstFunction, formatSignal } from '../state/signal.ts'
import { usePageState } from '../state/time-window.ts'
import { DESTINATIONS } from './navigation.ts'

interface Place extends ComboOption {
  readonly href: string
}

/** Searches pages, devices, interfaces and metrics, and goes there. */
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
        label="Search pages, devices, metrics"
        className="is-inline"
        placeholder="Search pages, devices, metrics"
        value=""
        options={places}
        isStrict
        isInline
        onCommit={go}
      />
    </Dialog>
  )
}

function usePlaces(): readonly Place[] {
  const page = usePageState()
  const { data: types } = useTypes()
  const { data: devices } = useDevices()
  const { data: interfaces } = useSeriesOfMetric('netdev_rx_bytes_total')
  return useMemo(() => {
    const pages = DESTINATIONS.map(({ label, path }) => ({ value: label, note: 'page', href: page.hrefTo(path) }))
    const hardware = (devices?.devices ?? [])
      .filter(({ kind }) => kind === 'gpu' || kind === 'nic')
      .map((device) => ({
        value: deviceTitle(device),
        note: [device.name, device.model, device.address].filter((word) => word !== deviceTitle(device)).join(' · '),
        href: page.hrefTo(devicePath(device)),
      }))
    const netdevs = (interfaces?.series ?? [])
      .map(({ labels }) => labels.device ?? '')
      .sort(compareNames)
      .map((device) => ({
        value: device,
        note: 'interface',
        href: page.hrefTo(`/fabric/${encodeURIComponent(device)}`),
      }))
    const metrics = (types?.types ?? []).flatMap(({ fields }) =>
      fields.map((field) => ({
        value: field.metric,
        note: field.help,
        href: page.hrefTo('/explore', {
          sig: [formatSignal({ metric: field.metric, function: firstFunction(field) })],
        }),
      })),
    )
    return [...pages, ...hardware, ...netdevs, ...metrics]
  }, [page, types, interfaces, devices])
}
