import type { IncidentsAnswer } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { Choice } from '../../components/choice.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { compareNames } from '../../format/names.ts'
import { formatSpanOfTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { formatSpan } from '../../state/url-state.ts'
import { titledDevices } from './event-device.ts'
import { HINT_SEVERITIES, WITHIN_CHOICES } from './incident-filters.ts'

const STATES = [
  ['All', undefined],
  ['Open', 'open'],
  ['Ended', 'ended'],
] as const

const SEVERITY_OPTIONS = HINT_SEVERITIES.map((name) => [name, name[0]?.toUpperCase() + name.slice(1)] as const)
const KIND_OPTIONS = [
  ['hint', 'Hints'],
  ['event', 'Traceback events'],
] as const

/** The filters of the list. The address holds all of them. */
export function IncidentFilters({
  answer,
  devices,
}: {
  readonly answer: IncidentsAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const { device = '', severity = '', kind = '', state, withinMs, fromMs, toMs } = page.url
  const places = new Set([device, ...answer.incidents.map((one) => one.device)].filter((id) => id !== ''))
  const zone = page.url.tz ?? 'utc'
  return (
    <div className="incident-filters">
      <fieldset className="segments" aria-label="State">
        {STATES.map(([label, value]) => (
          <button
            key={label}
            type="button"
            className="segment"
            aria-pressed={state === value}
            onClick={() => page.change({ state: value }, 'replace')}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <Choice
        label="Severity"
        all="Any severity"
        value={severity}
        options={SEVERITY_OPTIONS}
        onChange={(value) => page.change({ severity: HINT_SEVERITIES.find((one) => one === value) }, 'replace')}
      />
      <Choice
        label="Kind"
        all="Any kind"
        value={kind}
        options={KIND_OPTIONS}
        onChange={(value) => page.change({ kind: value }, 'replace')}
      />
      <Choice
        label="Device"
        all="All devices"
        value={device}
        options={titledDevices([...places].sort(compareNames), devices)}
        onChange={(value) => page.change({ device: value }, 'replace')}
      />
      {fromMs !== undefined && toMs !== undefined ? (
        <button
          type="button"
          className="button"
          onClick={() => page.change({ fromMs: undefined, toMs: undefined }, 'replace')}
        >
          {formatSpanOfTime(fromMs, toMs, zone)} {zoneName(zone, toMs)} ×
          <span className="visually-hidden"> any time</span>
        </button>
      ) : (
        <Choice
          label="Time"
          all="Any time"
          value={withinMs === undefined ? '' : String(withinMs)}
          options={withinOptions(withinMs)}
          onChange={(value) => page.change({ withinMs: value === undefined ? undefined : Number(value) }, 'replace')}
        />
      )}
      <FilterInput label="Words" />
    </div>
  )
}

function withinOptions(chosenMs: number | undefined): readonly (readonly [string, string])[] {
  const named = WITHIN_CHOICES.map(({ withinMs, label }) => [String(withinMs), label] as const)
  if (chosenMs === undefined || WITHIN_CHOICES.some(({ withinMs }) => withinMs === chosenMs)) return named
  return [...named, [String(chosenMs), `Last ${formatSpan(chosenMs)}`]]
}
