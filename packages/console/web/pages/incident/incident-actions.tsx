import type { IncidentAnswer, MovedAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { acknowledge, useMoved } from '../../api/incidents.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Icon } from '../../components/icon.tsx'
import { incidentMarkdown } from './incident-markdown.ts'
import { useMetricTitles } from './metric-titles.ts'

/** Acknowledge an incident, and take it along: as a link, as Markdown, and as JSON. */
export function IncidentActions({
  answer,
  devices,
}: {
  readonly answer: IncidentAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const { incident } = answer
  const moved = useMoved(incident.id).data
  const titleOf = useMetricTitles()
  const [fault, setFault] = useState('')
  return (
    <>
      {!incident.acknowledged && (
        <button
          type="button"
          className="button is-primary"
          onClick={() => void acknowledge(incident.id).catch((error: Error) => setFault(error.message))}
        >
          Acknowledge
        </button>
      )}
      <CopyButton label="Copy link" icon="link" text={() => location.href} />
      <CopyButton
        label="Copy as Markdown"
        text={() => incidentMarkdown(answer, devices, { moved, titleOf, address: location.href })}
      />
      <a className="button" download={`${incident.id.replaceAll(':', '-')}.json`} href={jsonAddress(answer, moved)}>
        <Icon name="download" /> JSON
      </a>
      {fault !== '' && <p role="alert">{fault}</p>}
    </>
  )
}

function jsonAddress(answer: IncidentAnswer, moved: MovedAnswer | undefined): string {
  const json = JSON.stringify({ ...answer, ...(moved === undefined ? {} : { moved }) }, undefined, 2)
  return `data:application/json;charset=utf-8,${encodeURIComponent(json)}`
}
