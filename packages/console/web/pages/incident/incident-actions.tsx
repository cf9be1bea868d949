import type { IncidentAnswer, MovedAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { acknowledge, useMoved } from '../../api/incidents.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Icon } from '../../components/icon.tsx'
import { unmarked } from '../../format/marked-text.ts'
import { download, exportFileName } from '../explore/export.ts'
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
      <button type="button" className="button" onClick={() => saveJson(answer, moved)}>
        <Icon name="download" /> JSON
      </button>
      {fault !== '' && <p role="alert">{fault}</p>}
    </>
  )
}

/** Saves an incident with the names as the API gives them. */
function saveJson(answer: IncidentAnswer, moved: MovedAnswer | undefined): void {
  const { id, isSimulated } = answer.incident
  const json = JSON.stringify({ ...answer, ...(moved === undefined ? {} : { moved }) }, undefined, 2)
  download(
    exportFileName(['incident', id], isSimulated, 'json'),
    new Blob([unmarked(json)], { type: 'application/json' }),
  )
}
