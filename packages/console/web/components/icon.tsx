import type { ReactNode } from 'react'

/** Every drawing of the page, on a 16 × 16 field, stroked with the colour of the text. */
const DRAWINGS = {
  node: (
    <>
      <rect x="2" y="2.5" width="12" height="4.6" rx="1.2" />
      <rect x="2" y="8.9" width="12" height="4.6" rx="1.2" />
      <path d="M4.6 4.8h.01M4.6 11.2h.01M7 4.8h2M7 11.2h2" />
    </>
  ),
  nodes: (
    <>
      <rect x="1.6" y="2" width="5.4" height="4.4" rx="1" />
      <rect x="9" y="2" width="5.4" height="4.4" rx="1" />
      <rect x="1.6" y="9.6" width="5.4" height="4.4" rx="1" />
      <rect x="9" y="9.6" width="5.4" height="4.4" rx="1" />
      <path d="M3.4 4.2h.01M10.8 4.2h.01M3.4 11.8h.01M10.8 11.8h.01" />
    </>
  ),
  fabric: (
    <>
      <rect x="5.7" y="1.8" width="4.6" height="3.6" rx=".8" />
      <rect x="1.5" y="10.6" width="4.6" height="3.6" rx=".8" />
      <rect x="9.9" y="10.6" width="4.6" height="3.6" rx=".8" />
      <path d="M8 5.4V8M3.8 10.6V8h8.4v2.6" />
    </>
  ),
  gpu: (
    <>
      <rect x="3.6" y="3.6" width="8.8" height="8.8" rx="1.2" />
      <path d="M6.4 6.4h3.2v3.2H6.4zM6 1.4v2.2M10 1.4v2.2M6 12.4v2.2M10 12.4v2.2M1.4 6h2.2M1.4 10h2.2M12.4 6h2.2M12.4 10h2.2" />
    </>
  ),
  host: (
    <>
      <rect x="2" y="2.6" width="12" height="8.4" rx="1.2" />
      <path d="M8 11v2.6M5 13.6h6M4.8 8.4V7M7 8.4V5.4M9.2 8.4V6.4M11.4 8.4V4.8" />
    </>
  ),
  apps: (
    <>
      <rect x="2" y="2" width="5" height="5" rx="1" />
      <rect x="9" y="2" width="5" height="5" rx="1" />
      <rect x="2" y="9" width="5" height="5" rx="1" />
      <rect x="9" y="9" width="5" height="5" rx="1" />
    </>
  ),
  explorer: <path d="M1.8 14.2h12.4M2.5 10.6l3.6-4 2.6 2.3 4.6-6" />,
  sources: (
    <>
      <circle cx="4" cy="8" r="1.9" />
      <circle cx="12" cy="3.6" r="1.9" />
      <circle cx="12" cy="12.4" r="1.9" />
      <path d="m5.7 7.1 4.6-2.6M5.7 8.9l4.6 2.6" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.2 10.2 3.6 3.6" />
    </>
  ),
  events: <path d="M1.6 8.4h2.7l1.9-5 3.4 9 1.9-4h2.9" />,
  moon: <path d="M13.4 9.6A5.8 5.8 0 0 1 6.4 2.6 5.8 5.8 0 1 0 13.4 9.6Z" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.9" />
      <path d="M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1" />
    </>
  ),
  settings: (
    <>
      <path d="M1.8 4.4h6.4M11.8 4.4h2.4M1.8 11.6h2.4M7.8 11.6h6.4" />
      <circle cx="10" cy="4.4" r="1.8" />
      <circle cx="6" cy="11.6" r="1.8" />
    </>
  ),
  close: <path d="m4 4 8 8m0-8-8 8" />,
  more: <path d="M3.2 8h.01M8 8h.01M12.8 8h.01" strokeWidth="2.2" />,
  chevron: <path d="m4.5 6.2 3.5 3.5 3.5-3.5" />,
  up: <path d="m4.5 9.8 3.5-3.5 3.5 3.5" />,
  back: <path d="M9.8 3.5 5.3 8l4.5 4.5" />,
  link: (
    <path d="M6.6 9.4a2.8 2.8 0 0 0 4 0l2.2-2.2a2.8 2.8 0 0 0-4-4L7.9 4.1M9.4 6.6a2.8 2.8 0 0 0-4 0L3.2 8.8a2.8 2.8 0 0 0 4 4l.9-.9" />
  ),
  copy: (
    <>
      <rect x="5.4" y="5.4" width="8.2" height="8.2" rx="1.2" />
      <path d="M10.6 5.4V3.6c0-.7-.5-1.2-1.2-1.2H3.6c-.7 0-1.2.5-1.2 1.2v5.8c0 .7.5 1.2 1.2 1.2h1.8" />
    </>
  ),
  plus: <path d="M8 3v10M3 8h10" />,
  keyboard: (
    <>
      <rect x="1.5" y="3.8" width="13" height="8.4" rx="1.4" />
      <path d="M4 6.6h.01M6.7 6.6h.01M9.3 6.6h.01M12 6.6h.01M5 9.6h6" />
    </>
  ),
  flask: <path d="M6.2 1.8h3.6M7 1.8v4.1l-3.7 6.4c-.5.9.1 1.9 1.1 1.9h7.2c1 0 1.6-1 1.1-1.9L9 5.9V1.8M5 10.2h6" />,
  download: <path d="M8 2.2v7.6M4.8 6.8 8 10l3.2-3.2M2.6 13.4h10.8" />,
  ok: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m5.4 8.2 1.9 1.9 3.5-3.9" />
    </>
  ),
  warning: (
    <>
      <path d="M8 2 14.4 13.4H1.6Z" strokeLinejoin="round" />
      <path d="M8 6.4v3.2M8 11.6h.01" />
    </>
  ),
  critical: (
    <>
      <path d="M5.2 1.4h5.6l3.8 3.8v5.6l-3.8 3.8H5.2l-3.8-3.8V5.2Z" fill="currentColor" stroke="none" />
      <path d="M8 4.4v4.4M8 11.3h.01" className="icon-paper" strokeWidth="1.9" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 2a6 6 0 0 1 0 12Z" fill="currentColor" stroke="none" />
    </>
  ),
  affected: (
    <>
      <circle cx="11" cy="8" r="3.4" />
      <path d="M1.4 8h5M4.3 5.6 6.7 8l-2.4 2.4" />
    </>
  ),
  absent: <circle cx="8" cy="8" r="6" strokeDasharray="2.4 2.3" />,
  denied: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m3.8 12.2 8.4-8.4" />
    </>
  ),
  stale: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.6V8l2.3 1.6" />
    </>
  ),
} as const satisfies Record<string, ReactNode>

/** Name of a drawing. */
export type IconName = keyof typeof DRAWINGS

/** A drawing beside words; it says nothing by itself. */
export function Icon({ name, className }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg
      className={className ? `icon ${className}` : 'icon'}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {DRAWINGS[name]}
    </svg>
  )
}

/** The sign of Sonde: a probe that listens to both sides. */
export function Logo() {
  return (
    <svg
      className="logo"
      viewBox="0 0 24 24"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <circle cx="12" cy="15" r="4" />
      <circle cx="12" cy="15" r=".8" fill="currentColor" />
      <path d="M12 3v8M5.4 9.8a9 9 0 0 0 0 10.4M18.6 9.8a9 9 0 0 1 0 10.4" />
    </svg>
  )
}
