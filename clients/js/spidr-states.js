/** The words in which `SpidrClient` and `Call` tell where they are, and what went wrong. */

export const ClientState = Object.freeze({
  UNREGISTERED: 'UNREGISTERED',
  REGISTERING: 'REGISTERING',
  REGISTERED: 'REGISTERED',
  /** The subscription stands, but its WebSocket is lost and being opened again. */
  RECONNECTING: 'RECONNECTING',
});

export const CallState = Object.freeze({
  INITIAL: 'INITIAL',
  DIALING: 'DIALING',
  SESSION_PROGRESS: 'SESSION_PROGRESS',
  RINGING: 'RINGING',
  ANSWERING: 'ANSWERING',
  IN_CALL: 'IN_CALL',
  ON_HOLD: 'ON_HOLD',
  REMOTELY_HELD: 'REMOTELY_HELD',
  ON_DOUBLE_HOLD: 'ON_DOUBLE_HOLD',
  ENDED: 'ENDED',
});

/** Reasons a device finds by itself; other codes come from the far side and are SIP's (404, 486, 603 …). */
export const EndCode = Object.freeze({
  NO_REASON: 9900,
  LOCAL: 9901,
  REJECTED: 9902,
  ANSWERED_ELSEWHERE: 9904,
  COMPLETED: 9905,
  ERROR: 9906,
  UNREGISTERED: 9907,
  AUDIT_FAILED: 9909,
});

/** A request the gateway refused, or that did not reach it (`httpStatus` 0). */
export class SpidrError extends Error {
  constructor({ httpStatus, statusCode, code, reason, retryAfter }) {
    super(reason);
    this.name = 'SpidrError';
    this.httpStatus = httpStatus;
    /** The application status code of the protocol, e.g. 42 for "no such call". */
    this.statusCode = statusCode;
    /** The gateway's dotted code, e.g. `call.not_found`. */
    this.code = code;
    this.reason = reason;
    /** Milliseconds after which it makes sense to ask again, if it does. */
    this.retryAfter = retryAfter;
  }
}
