import type { EventsAnswer } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { Choice } from '../../components/choice.tsx'
import { compareNames } from '../../format/names.ts'
import { formatSpanOfTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { formatSpan } from '../../state/url-state.ts'
import { titledDevices } from './event-device.ts'
import { WITHIN_CHOICES } from './event-filters.ts'

const STATES = [
  ['All', undefined],
  ['Open', 'open'],
  ['Closed', 'closed'],
] as const

/** The filters of the list. The address holds all of them. */
export function EventFilters({
  answer,
  devices,
}: {
  readonly answer: EventsAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const { rule = '', device = '', state, withinMs, fromMs, toMs } = page.url
  const rules = namesWith(rule, [...answer.rules.map(({ name }) => name), ...answer.events.map((event) => event.rule)])
  const places = namesWith(device, [
    ...answer.rules.flatMap((one) => one.devices),
    ...answer.events.map((event) => event.device),
  ])
  const zone = page.url.tz ?? 'utc'
  return (
    <div className="event-filters">
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
        label="Rule"
        all="All rules"
        value={rule}
        options={rules.map((name) => [name, name])}
        onChange={(value) => page.change({ rule: value }, 'replace')}
      />
      <Choice
        label="Device"
        all="All devices"
        value={device}
        options={titledDevices(places, devices)}
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
          label="Window"
          all="Any time"
          value={withinMs === undefined ? '' : String(withinMs)}
          options={withinOptions(withinMs)}
          onChange={(value) => page.change({ withinMs: value === undefined ? undefined : Number(value) }, 'replace')}
        />
      )}
    </div>
  )
}

/** Names to choose from. The chosen name is always among them. */
function namesWith(chosen: string, names: readonly string[]): readonly string[] {
  return [...new Set([chosen, ...names])].filter((name) => name !== '').sort(compareNames)
}

function withinOptions(chosenMs: number | undefined): readonly (readonly [string, string])[] {
  const named = WITHIN_CHOICES.map(({ withinMs, label }) => [String(withinMs), label] as const)
  if (chosenMs === undefined || WITHIN_CHOICES.some(({ withinMs }) => withinMs === chosenMs)) return named
  return [...named, [String(chosenMs), `Last ${formatSpan(chosenMs)}`]]
}
