import type { ExportSection } from './export/export-section.ts';
import type { ApiDeps } from './api-deps.ts';
import { acceptTerms } from './features/accounts/accept-terms.ts';
import { changePassword } from './features/accounts/change-password.ts';
import { confirmPasswordReset } from './features/accounts/confirm-password-reset.ts';
import { deleteMe } from './features/accounts/delete-me.ts';
import { disownAccount } from './features/accounts/disown-account.ts';
import { exportAuditLog } from './features/accounts/export-audit-log.ts';
import { exportConsents } from './features/accounts/export-consents.ts';
import { getAuthMe } from './features/accounts/get-auth-me.ts';
import { getConsentHistory } from './features/accounts/get-consent-history.ts';
import { getMe } from './features/accounts/get-me.ts';
import { getMyData } from './features/accounts/get-my-data.ts';
import { register } from './features/accounts/register.ts';
import { requestPasswordReset } from './features/accounts/request-password-reset.ts';
import { resendVerification } from './features/accounts/resend-verification.ts';
import { undoEmailChange } from './features/accounts/undo-email-change.ts';
import { updateMe } from './features/accounts/update-me.ts';
import { verifyEmail } from './features/accounts/verify-email.ts';
import { getRecentMetrics } from './features/admin/get-recent-metrics.ts';
import { getHeldMessages } from './features/admin/get-held-messages.ts';
import { listAuditEntries } from './features/admin/list-audit-entries.ts';
import { listHolds } from './features/admin/list-holds.ts';
import { listDeadLetters } from './features/admin/list-dead-letters.ts';
import { redriveDeadLetters } from './features/admin/redrive-dead-letters.ts';
import { listRetentionRuns } from './features/admin/list-retention-runs.ts';
import { pauseRetention } from './features/admin/pause-retention.ts';
import { planRetention } from './features/admin/plan-retention.ts';
import { resumeRetention } from './features/admin/resume-retention.ts';
import { runRetention } from './features/admin/run-retention.ts';
import { setHold } from './features/admin/set-hold.ts';
import { setTier } from './features/admin/set-tier.ts';
import { appleLogin } from './features/identity-providers/apple-login.ts';
import { googleCallback } from './features/identity-providers/google-callback.ts';
import { googleLogin } from './features/identity-providers/google-login.ts';
import { googleSignIn } from './features/identity-providers/google-sign-in.ts';
import { createApiKey } from './features/credentials/create-api-key.ts';
import { createTopicToken } from './features/credentials/create-topic-token.ts';
import { exportApiKeys } from './features/credentials/export-api-keys.ts';
import { exportTopicTokens } from './features/credentials/export-topic-tokens.ts';
import { deleteApiKey } from './features/credentials/delete-api-key.ts';
import { deleteTopicToken } from './features/credentials/delete-topic-token.ts';
import { enableApiKey } from './features/credentials/enable-api-key.ts';
import { listApiKeys } from './features/credentials/list-api-keys.ts';
import { listTopicTokens } from './features/credentials/list-topic-tokens.ts';
import { revokeApiKey } from './features/credentials/revoke-api-key.ts';
import { deleteDevice } from './features/devices/delete-device.ts';
import { exportDevices } from './features/devices/export-devices.ts';
import { ackByPush } from './features/escalation/ack-by-push.ts';
import { ackMessage } from './features/escalation/ack-message.ts';
import { deleteEscalation } from './features/escalation/delete-escalation.ts';
import { getEscalation } from './features/escalation/get-escalation.ts';
import { listUnacknowledged } from './features/messages/list-unacknowledged.ts';
import { putEscalation } from './features/escalation/put-escalation.ts';
import { unackMessage } from './features/escalation/unack-message.ts';
import { createSink } from './features/sinks/create-sink.ts';
import { deleteSink } from './features/sinks/delete-sink.ts';
import { exportSinks } from './features/sinks/export-sinks.ts';
import { getSink } from './features/sinks/get-sink.ts';
import { getSinkDeliveries } from './features/sinks/get-sink-deliveries.ts';
import { listSinks } from './features/sinks/list-sinks.ts';
import { testSink } from './features/sinks/test-sink.ts';
import { updateSink } from './features/sinks/update-sink.ts';
import { getDevice } from './features/devices/get-device.ts';
import { listDevices } from './features/devices/list-devices.ts';
import { registerDevice } from './features/devices/register-device.ts';
import { testDevice } from './features/devices/test-device.ts';
import { updateDevice } from './features/devices/update-device.ts';
import { getOpenApiDocument } from './features/documents/get-openapi-document.ts';
import { getLiveness } from './features/health/get-liveness.ts';
import { getMetrics } from './features/health/get-metrics.ts';
import { getNtfyHealth } from './features/health/get-ntfy-health.ts';
import { getReadiness } from './features/health/get-readiness.ts';
import { endAllLogins } from './features/logins/end-all-logins.ts';
import { endLogin } from './features/logins/end-login.ts';
import { listLogins } from './features/logins/list-logins.ts';
import { login } from './features/logins/login.ts';
import { logout } from './features/logins/logout.ts';
import { refresh } from './features/logins/refresh.ts';
import { deleteConsumer } from './features/log/delete-consumer.ts';
import { getConsumer } from './features/log/get-consumer.ts';
import { getLog } from './features/log/get-log.ts';
import { leaseConsumer } from './features/log/lease-consumer.ts';
import { listConsumers } from './features/log/list-consumers.ts';
import { returnLease } from './features/log/return-lease.ts';
import { setConsumer } from './features/log/set-consumer.ts';
import { deleteInSequence } from './features/messages/delete-in-sequence.ts';
import { deleteMessage } from './features/messages/delete-message.ts';
import { editMessage } from './features/messages/edit-message.ts';
import { exportMessages } from './features/messages/export-messages.ts';
import { getActivity } from './features/messages/get-activity.ts';
import { getDeliveries } from './features/messages/get-deliveries.ts';
import { getHistory } from './features/messages/get-history.ts';
import { listRecent } from './features/messages/list-recent.ts';
import { renotifyMessage } from './features/messages/renotify-message.ts';
import { searchMessages } from './features/messages/search-messages.ts';
import { searchTopic } from './features/messages/search-topic.ts';
import { publishInSequence } from './features/publishing/publish-in-sequence.ts';
import { publishJson } from './features/publishing/publish-json.ts';
import { cancelScheduled } from './features/publishing/scheduled/cancel-scheduled.ts';
import { exportScheduled } from './features/publishing/scheduled/export-scheduled.ts';
import { listScheduled } from './features/publishing/scheduled/list-scheduled.ts';
import { publishToTopic } from './features/publishing/publish-to-topic.ts';
import { createStreamSession } from './features/streams/create-stream-session.ts';
import { streamTopicBySse, streamTopicByWebSocket } from './features/streams/stream-topic.ts';
import { streamTopicsBySse, streamTopicsByWebSocket } from './features/streams/stream-topics.ts';
import { checkSubscription } from './features/subscriptions/check-subscription.ts';
import { createSubscription } from './features/subscriptions/create-subscription.ts';
import { deleteSubscription } from './features/subscriptions/delete-subscription.ts';
import { deleteSubscriptionByTopic } from './features/subscriptions/delete-subscription-by-topic.ts';
import { exportSubscriptions } from './features/subscriptions/export-subscriptions.ts';
import { listSubscriptions } from './features/subscriptions/list-subscriptions.ts';
import { previewSubscription } from './features/subscriptions/preview-subscription.ts';
import { updateSubscription } from './features/subscriptions/update-subscription.ts';
import { viewSubscription } from './features/subscriptions/view-subscription.ts';
import { createTeamSubscription } from './features/teams/subscriptions/create-team-subscription.ts';
import { deleteTeamSubscription } from './features/teams/subscriptions/delete-team-subscription.ts';
import { listTeamSubscriptions } from './features/teams/subscriptions/list-team-subscriptions.ts';
import { acceptInvite } from './features/teams/invites/accept-invite.ts';
import { cancelInvite } from './features/teams/invites/cancel-invite.ts';
import { changeMemberRole } from './features/teams/change-member-role.ts';
import { createInvite } from './features/teams/invites/create-invite.ts';
import { createTeam } from './features/teams/create-team.ts';
import { deleteTeam } from './features/teams/delete-team.ts';
import { exportTeams } from './features/teams/export-teams.ts';
import { getTeam } from './features/teams/get-team.ts';
import { getTeamStats } from './features/teams/get-team-stats.ts';
import { listDeactivatedTeams } from './features/teams/list-deactivated-teams.ts';
import { listInvites } from './features/teams/invites/list-invites.ts';
import { listMembers } from './features/teams/list-members.ts';
import { listTeams } from './features/teams/list-teams.ts';
import { reactivateTeam } from './features/teams/reactivate-team.ts';
import { removeMember } from './features/teams/remove-member.ts';
import { resendInvite } from './features/teams/invites/resend-invite.ts';
import { updateTeam } from './features/teams/update-team.ts';
import { createTopic } from './features/topics/create-topic.ts';
import { deleteTopic } from './features/topics/delete-topic.ts';
import { exportTopics } from './features/topics/export-topics.ts';
import { getTopic } from './features/topics/get-topic.ts';
import { listMyTopics } from './features/topics/list-my-topics.ts';
import { listPublicTopics } from './features/topics/list-public-topics.ts';
import { listTopics } from './features/topics/list-topics.ts';
import { updateTopic } from './features/topics/update-topic.ts';
import type { Route } from './http/route.ts';

/** All operations of the interface, in its order. */
export function routes(deps: ApiDeps): Route[] {
  const table: Route[] = [
    ...messagingRoutes(deps),
    ...accountRoutes(deps),
    ...teamRoutes(deps),
    ...notificationRoutes(deps),
    ...operatorRoutes(deps),
    getOpenApiDocument(() => table),
  ];
  return table;
}

function messagingRoutes(deps: ApiDeps): Route[] {
  return [
    // Publishing
    publishToTopic(deps, 'POST'),
    publishToTopic(deps, 'PUT'),
    publishJson(deps, 'POST'),
    publishJson(deps, 'PUT'),
    publishInSequence(deps, 'POST'),
    publishInSequence(deps, 'PUT'),
    // Topics
    listTopics(deps),
    listMyTopics(deps),
    listPublicTopics(deps),
    createTopic(deps),
    getTopic(deps, 'detail'),
    getTopic(deps, 'stats'),
    updateTopic(deps),
    deleteTopic(deps),
    putEscalation(deps),
    getEscalation(deps),
    deleteEscalation(deps),
    listSinks(deps),
    createSink(deps),
    getSink(deps),
    updateSink(deps),
    deleteSink(deps),
    testSink(deps),
    getSinkDeliveries(deps),
    // Messages
    getHistory(deps),
    searchTopic(deps),
    searchMessages(deps),
    listRecent(deps),
    getActivity(deps),
    listScheduled(deps),
    cancelScheduled(deps),
    getDeliveries(deps),
    renotifyMessage(deps),
    listUnacknowledged(deps),
    ackMessage(deps),
    unackMessage(deps),
    ackByPush(deps),
    deleteMessage(deps),
    deleteInSequence(deps),
    editMessage(deps),
    getLog(deps),
    listConsumers(deps),
    getConsumer(deps),
    setConsumer(deps),
    deleteConsumer(deps),
    leaseConsumer(deps),
    returnLease(deps),
    // Real time
    streamTopicBySse(deps),
    streamTopicsBySse(deps),
    createStreamSession(deps),
    streamTopicByWebSocket(deps),
    streamTopicsByWebSocket(deps),
  ];
}

function accountRoutes(deps: ApiDeps): Route[] {
  const google = googleSignIn(deps);
  return [
    // Authentication and account
    register(deps),
    login(deps),
    googleLogin(deps, google),
    googleCallback(deps, google),
    appleLogin(deps),
    refresh(deps),
    logout(deps),
    listLogins(deps),
    endLogin(deps),
    endAllLogins(deps),
    verifyEmail(deps),
    disownAccount(deps),
    resendVerification(deps),
    requestPasswordReset(deps),
    confirmPasswordReset(deps),
    changePassword(deps),
    acceptTerms(deps),
    getConsentHistory(deps),
    getAuthMe(deps),
    getMe(deps),
    updateMe(deps),
    undoEmailChange(deps),
    getMyData(deps, exportSections(deps)),
    deleteMe(deps),
    // API keys and topic access tokens
    listApiKeys(deps),
    createApiKey(deps),
    revokeApiKey(deps),
    enableApiKey(deps),
    deleteApiKey(deps),
    listTopicTokens(deps),
    createTopicToken(deps),
    deleteTopicToken(deps),
  ];
}

/** What an account's export holds, in its order. */
function exportSections(deps: ApiDeps): ExportSection[] {
  return [
    exportTopics(deps),
    exportMessages(deps),
    exportScheduled(deps),
    exportDevices(deps),
    exportApiKeys(deps),
    exportTopicTokens(deps),
    exportSinks(deps),
    exportSubscriptions(deps),
    exportConsents(deps),
    exportTeams(deps),
    exportAuditLog(deps),
  ];
}

function teamRoutes(deps: ApiDeps): Route[] {
  return [
    listTeams(deps),
    getTeamStats(deps),
    listDeactivatedTeams(deps),
    createTeam(deps),
    getTeam(deps),
    updateTeam(deps),
    deleteTeam(deps),
    reactivateTeam(deps),
    listMembers(deps),
    changeMemberRole(deps),
    removeMember(deps),
    createInvite(deps),
    listInvites(deps),
    acceptInvite(deps),
    resendInvite(deps),
    cancelInvite(deps),
    listTeamSubscriptions(deps),
    createTeamSubscription(deps),
    deleteTeamSubscription(deps),
  ];
}

function notificationRoutes(deps: ApiDeps): Route[] {
  return [
    // Devices
    registerDevice(deps),
    listDevices(deps),
    getDevice(deps),
    updateDevice(deps),
    deleteDevice(deps),
    testDevice(deps),
    // Subscriptions
    listSubscriptions(deps),
    createSubscription(deps),
    updateSubscription(deps),
    viewSubscription(deps),
    previewSubscription(deps),
    deleteSubscription(deps),
    deleteSubscriptionByTopic(deps),
    checkSubscription(deps),
  ];
}

function operatorRoutes(deps: ApiDeps): Route[] {
  return [
    // Health and figures
    getLiveness(),
    getReadiness(deps),
    getNtfyHealth(),
    ...(deps.config.METRICS_PORT === undefined ? [getMetrics(deps)] : []),
    // The operator
    getRecentMetrics(deps),
    setTier(deps),
    setHold(deps, 'PUT'),
    setHold(deps, 'DELETE'),
    listHolds(deps),
    getHeldMessages(deps),
    listDeadLetters(deps),
    redriveDeadLetters(deps),
    listAuditEntries(deps),
    planRetention(deps),
    runRetention(deps, 'run'),
    runRetention(deps, 'confirm'),
    listRetentionRuns(deps),
    pauseRetention(deps),
    resumeRetention(deps),
  ];
}
